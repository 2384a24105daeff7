// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/kernels/plain.h"

#include "runner/trainer/kernels/elements.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>

namespace fourfold::trainer {

at::Tensor plain_rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps)
{
    const at::Tensor wide = x.to(x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
    const at::Tensor scale = wide.square().mean(-1, /*keepdim=*/true).add(eps).rsqrt();
    return wide.mul(scale).mul(weight).to(x.scalar_type());
}

NormedSum plain_normed_sum(const at::Tensor& x, const at::Tensor& more, const at::Tensor& weight, double eps)
{
    const at::Tensor sum = x.add(more);
    return {sum, plain_rms_norm(sum, weight, eps)};
}

at::Tensor plain_swiglu(const at::Tensor& gate, const at::Tensor& up)
{
    return at::silu(gate).mul(up);
}

at::Tensor plain_clamped_swiglu(const at::Tensor& gate, const at::Tensor& up, double limit)
{
    const at::Tensor clamped = gate.clamp_max(limit);
    return at::sigmoid(clamped.mul(kGluSteepness)).mul(clamped).mul(up.clamp(-limit, limit).add(1));
}

at::Tensor plain_rotation(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine)
{
    const int64_t half = x.size(-1) / 2;
    const at::Tensor first = x.narrow(-1, 0, half), second = x.narrow(-1, half, half);
    const auto of_heads
        = [](const at::Tensor& table) { return (table.dim() == 2 ? table.unsqueeze(1) : table).unsqueeze(2); };
    const at::Tensor c = of_heads(cosine), s = of_heads(sine);
    return at::cat({first.mul(c).sub(second.mul(s)), second.mul(c).add(first.mul(s))}, -1).to(x.scalar_type());
}

} // namespace fourfold::trainer
