// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/kernels/fused.h"

#include "runner/trainer/autograd/gradient_function.h"
#include "runner/trainer/device/kind.h"
#include "runner/trainer/kernels/cpu_loops.h"
#include "runner/trainer/kernels/gpu_kernels.h"
#include "runner/trainer/kernels/tensor_loops.h"

#include <ATen/ops/clamp_max.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/silu_backward.h>

#include <memory>

namespace fourfold::trainer {

namespace {
class RmsNorm final : public GradientFunction {
public:
    explicit RmsNorm(double eps)
        : eps_(eps)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        const at::Tensor x = inputs[0].contiguous(), &weight = inputs[1];
        const int64_t width = x.size(-1), rows = x.numel() / width;
        // A GPU's kernel keeps it in fp32, whatever the type is.
        const auto kept_type = on_cpu(x) || x.scalar_type() == at::kDouble ? x.scalar_type() : at::kFloat;
        const at::Tensor y = at::empty_like(x), scale = at::empty({rows}, x.options().dtype(kept_type));
        by_type(x, 2, [&](auto* t) {
            rms_norm_rows(data(x, t), data(weight, t), rows, width, eps_, data(y, t), data(scale, t));
        });
        kept = {x, weight, scale};
        return {y};
    }
    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        const at::Tensor slope = gradients[0].contiguous(), &x = kept[0], &weight = kept[1], &scale = kept[2];
        const int64_t width = x.size(-1), rows = x.numel() / width;
        const at::Tensor x_slope = at::empty_like(x), weight_slope = at::empty({width}, x.options());
        by_type(x, 3, [&](auto* t) {
            rms_norm_slopes(data(slope, t), data(x, t), data(weight, t), data(scale, t), rows, width, data(x_slope, t),
                data(weight_slope, t));
        });
        return {x_slope, weight_slope};
    }

private:
    double eps_;
};

// The sum, and its norm.
class SumAndNorm final : public GradientFunction {
public:
    explicit SumAndNorm(double eps)
        : eps_(eps)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        const at::Tensor x = inputs[0].contiguous(), more = inputs[1].contiguous(), &weight = inputs[2];
        if (has_gpu_kernels(x)) {
            auto [sum, normed, scale] = normed_sum_by_kernel(x, more, weight, eps_);
            kept = {sum, weight, scale};
            return {std::move(sum), std::move(normed)};
        }
        const int64_t width = x.size(-1), rows = x.numel() / width;
        const at::Tensor sum = at::empty_like(x), y = at::empty_like(x), scale = at::empty({rows}, x.options());
        by_type(x, 4, [&](auto* t) {
            normed_sum_rows(data(x, t), data(more, t), data(weight, t), rows, width, eps_, data(sum, t), data(y, t),
                data(scale, t));
        });
        kept = {sum, weight, scale};
        return {sum, y};
    }
    // The gradient of both summands is one tensor.
    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        const at::Tensor sum_slope = gradients[0].contiguous(), slope = gradients[1].contiguous();
        const at::Tensor &sum = kept[0], &weight = kept[1], &scale = kept[2];
        if (has_gpu_kernels(sum)) {
            const auto [x_slope, weight_slope] = normed_sum_slopes_by_kernel(sum_slope, slope, sum, weight, scale);
            return {x_slope, x_slope, weight_slope};
        }
        const int64_t width = sum.size(-1), rows = sum.numel() / width;
        const at::Tensor x_slope = at::empty_like(sum), weight_slope = at::empty({width}, sum.options());
        by_type(sum, 4, [&](auto* t) {
            normed_sum_slopes(data(sum_slope, t), data(slope, t), data(sum, t), data(weight, t), data(scale, t), rows,
                width, data(x_slope, t), data(weight_slope, t));
        });
        return {x_slope, x_slope, weight_slope};
    }

private:
    double eps_;
};

// The sigmoid is made piece by piece, within the processor's cache, and again for the gradients instead of being kept.
class Gated final : public GradientFunction {
public:
    explicit Gated(GateForm<double> form)
        : form_(form)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        const at::Tensor gate = inputs[0].contiguous(), up = inputs[1].contiguous(), y = at::empty_like(gate);
        write_gated(form_, gate, up, y);
        kept = {gate, up};
        return {y};
    }
    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        const at::Tensor slope = gradients[0].contiguous(), &gate = kept[0], &up = kept[1];
        const at::Tensor gate_slope = at::empty_like(gate), up_slope = at::empty_like(up);
        const at::Tensor room = room_of_pieces(gate, 1);
        by_type(gate, 5, [&](auto* t) {
            each_piece(form_, gate, room, [&](int64_t first, int64_t count, const at::Tensor& sigmoid) {
                gated_slopes(gate_form(form_, t), data(slope, t) + first, data(gate, t) + first, data(sigmoid, t),
                    data(up, t) + first, count, data(gate_slope, t) + first, data(up_slope, t) + first);
            });
        });
        return {gate_slope, up_slope};
    }

private:
    GateForm<double> form_;
};

// Of library kernels; keeps the inputs alone.
class ClampedSwiGluAgain final : public GradientFunction {
public:
    explicit ClampedSwiGluAgain(double limit)
        : limit_(limit)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        kept = inputs;
        const at::Tensor gate = inputs[0].clamp_max(limit_);
        return {at::sigmoid(gate.mul(kGluSteepness)).mul_(gate).mul_(inputs[1].clamp(-limit_, limit_).add_(1))};
    }
    // With s = sigmoid(a gate'): d/d gate' = (up' + 1) s (1 + a gate' (1 - s)), d/d up' = gate' s; none beyond the
    // limit.
    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        const at::Tensor &slope = gradients[0], &gate = kept[0], &up = kept[1];
        const at::Tensor clamped = gate.clamp_max(limit_), sigmoid = at::sigmoid(clamped.mul(kGluSteepness));
        const at::Tensor glu = clamped.mul(sigmoid);
        const at::Tensor of_glu = sigmoid.neg().add_(1).mul_(clamped).mul_(kGluSteepness).add_(1).mul_(sigmoid);
        return {of_glu.mul_(up.clamp(-limit_, limit_).add_(1)).mul_(slope).mul_(gate.le(limit_)),
            glu.mul(slope).mul_(up.abs().le(limit_))};
    }

private:
    double limit_;
};

// Of library kernels: the sigmoid is computed again for the gradients instead of being kept.
class SwiGluAgain final : public GradientFunction {
public:
    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        kept = inputs;
        return {at::silu(inputs[0]).mul_(inputs[1])};
    }
    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        const at::Tensor &slope = gradients[0], &gate = kept[0], &up = kept[1];
        return {at::silu_backward(slope.mul(up), gate), at::silu(gate).mul_(slope)};
    }
};

// One kernel of our own for each pass.
class GatedOnGpu final : public GradientFunction {
public:
    explicit GatedOnGpu(GateForm<float> form)
        : form_(form)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        kept = inputs;
        return {gated_by_kernel(form_, inputs[0], inputs[1])};
    }
    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        auto [gate_slope, up_slope] = gated_slopes_by_kernel(form_, gradients[0], kept[0], kept[1]);
        return {std::move(gate_slope), std::move(up_slope)};
    }

private:
    GateForm<float> form_;
};

class Rotation final : public GradientFunction {
public:
    Rotation(at::Tensor cosine, at::Tensor sine)
        : cosine_(std::move(cosine))
        , sine_(std::move(sine))
    {
    }
    Tensors forward(const Tensors& inputs, Tensors&) override { return {turned(inputs[0], 1)}; }
    Tensors backward(const Tensors& gradients, const Tensors&) override { return {turned(gradients[0], -1)}; }

private:
    [[nodiscard]] at::Tensor turned(const at::Tensor& any, int direction) const
    {
        if (has_gpu_kernels(any))
            return turned_by_kernel(any, cosine_, sine_, direction);
        const at::Tensor x = any.contiguous(), y = at::empty_like(x);
        const int64_t half = x.size(-1) / 2;
        by_type(x, 2, [&](auto* t) {
            const int64_t rows = cosine_.numel() / half;
            turn(data(x, t), data(cosine_, t), data(sine_, t), rows, x.numel() / (2 * half * rows), half, direction,
                data(y, t));
        });
        return y;
    }

    at::Tensor cosine_, sine_;
};
} // namespace

at::Tensor fused_rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps)
{
    // Without values: at::rms_norm() would be put together of small operators, where a GPU has one kernel that keeps as
    // much as this one.
    if ((!has_loops(x) && (!x.is_meta() || on_cpu(x))) || weight.scalar_type() != x.scalar_type())
        return at::rms_norm(x, {x.size(-1)}, weight, eps);
    return apply(std::make_shared<RmsNorm>(eps), {x, weight})[0];
}

NormedSum fused_normed_sum(const at::Tensor& x, const at::Tensor& more, const at::Tensor& weight, double eps)
{
    const bool alike
        = more.sizes() == x.sizes() && more.scalar_type() == x.scalar_type() && weight.scalar_type() == x.scalar_type();
    if (!alike || x.numel() == 0 || (!has_loops(x) && !has_gpu_kernels(x))) {
        const at::Tensor sum = x.add(more);
        return {sum, fused_rms_norm(sum, weight, eps)};
    }
    auto both = apply(std::make_shared<SumAndNorm>(eps), {x, more, weight});
    return {std::move(both[0]), std::move(both[1])};
}

namespace {
bool has_gate_kernels(const at::Tensor& gate, const at::Tensor& up)
{
    return has_gpu_kernels(gate) && up.scalar_type() == gate.scalar_type() && up.sizes() == gate.sizes();
}
} // namespace

at::Tensor fused_swiglu(const at::Tensor& gate, const at::Tensor& up)
{
    if (has_gate_kernels(gate, up))
        return apply(std::make_shared<GatedOnGpu>(GateForm<float>()), {gate, up})[0];
    if (!has_loops(gate))
        return apply(std::make_shared<SwiGluAgain>(), {gate, up})[0];
    return apply(std::make_shared<Gated>(GateForm<double>()), {gate, up})[0];
}

at::Tensor fused_clamped_swiglu(const at::Tensor& gate, const at::Tensor& up, double limit)
{
    if (has_gate_kernels(gate, up))
        return apply(std::make_shared<GatedOnGpu>(clamped_form<float>(limit)), {gate, up})[0];
    if (!has_loops(gate))
        return apply(std::make_shared<ClampedSwiGluAgain>(limit), {gate, up})[0];
    return apply(std::make_shared<Gated>(clamped_form<double>(limit)), {gate, up})[0];
}

at::Tensor fused_rotation(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine)
{
    if ((has_loops(x) && cosine.scalar_type() == x.scalar_type())
        || (has_gpu_kernels(x) && cosine.scalar_type() == at::kFloat && x.dim() == 4))
        return apply(std::make_shared<Rotation>(cosine, sine), {x})[0];
    return plain_rotation(x, cosine, sine);
}

} // namespace fourfold::trainer
