// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/attention.h"

#include "runner/trainer/autograd/kept_results.h"
#include "runner/trainer/context_parallel/ruled_attention.h"
#include "runner/trainer/context_parallel/sequence_attention.h"
#include "runner/trainer/device/kind.h"

#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>

#include <cmath>

namespace fourfold::trainer {

namespace {
at::Tensor heads_first(const at::Tensor& x)
{
    return x.permute({1, 2, 0, 3}); // [b, heads, s, head_dim]
}
// [s, b, heads * head_dim]
at::Tensor positions_first(const at::Tensor& x)
{
    return x.permute({2, 0, 1, 3}).flatten(2);
}

// With all scores in memory.
at::Tensor dense_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const at::Tensor& sinks, const AttentionRule& rule)
{
    const int64_t batch = query.size(0), heads = query.size(1), asking = query.size(2), asked = key.size(2),
                  width = query.size(3);
    const auto every_head = [&](const at::Tensor& x) {
        const int64_t shared = heads / x.size(1);
        return x.unsqueeze(2).expand({batch, x.size(1), shared, asked, width}).reshape({batch * heads, asked, width});
    };
    const at::Tensor positions = at::arange(asked, at::TensorOptions(at::kLong).device(query.device()));
    const at::Tensor bias = score_bias(
        positions.narrow(0, asked - asking, asking), positions, rule, query.options().requires_grad(false));
    const at::Tensor queries = query.reshape({batch * heads, asking, width}), keys = every_head(key).transpose(1, 2);
    at::Tensor scores;
    if (rule.kernel == AttentionKernel::fused_softmax) {
        const at::Tensor each = bias.expand({batch, heads, asking, asked});
        scores = at::baddbmm(each.reshape({batch * heads, asking, asked}), queries, keys, 1, rule.scale);
    } else {
        scores = at::matmul(queries, keys).mul(rule.scale).view({batch, heads, asking, asked}).add(bias).flatten(0, 1);
    }
    if (sinks.defined()) {
        const at::Tensor column = sinks.to(scores.scalar_type()).view({1, heads, 1, 1});
        scores = at::cat({scores, column.expand({batch, heads, asking, 1}).reshape({batch * heads, asking, 1})}, -1);
    }
    const at::Tensor shares = at::softmax(scores, -1).narrow(-1, 0, asked);
    return at::matmul(shares, every_head(value)).view({batch, heads, asking, width});
}
} // namespace

std::vector<double> alibi_slopes(int heads)
{
    int power = 1;
    while (2 * power <= heads)
        power *= 2;
    std::vector<double> slopes;
    for (int i = 1; i <= power; ++i)
        slopes.push_back(std::exp2(-8.0 * i / power));
    for (int i = 1; int(slopes.size()) < heads; i += 2)
        slopes.push_back(std::exp2(-8.0 * i / (2 * power)));
    return slopes;
}

at::Tensor apply_attention(const std::shared_ptr<GradientFunction>& function, const at::Tensor& query,
    const at::Tensor& key, const at::Tensor& value, const at::Tensor& sinks)
{
    GradientFunction::Tensors inputs{heads_first(query), heads_first(key), heads_first(value)};
    if (sinks.defined())
        inputs.push_back(sinks);
    return positions_first(trainer::apply(function, inputs)[0]);
}

at::Tensor causal_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const at::Tensor& sinks, const AttentionRule& rule)
{
    const at::Tensor q = heads_first(query), k = heads_first(key), v = heads_first(value);
    if (rule.kernel == AttentionKernel::unfused || rule.kernel == AttentionKernel::fused_softmax)
        return positions_first(dense_attention(q, k, v, sinks, rule));
    // Taken by name; cuDNN's through the choice that the program made (use_attention_kernel), which a rehearsal cannot:
    // its tensors are those of FlashAttention-2. The CPU's kernel is FlashAttention-2's algorithm, too.
    const bool whole = query.size(0) == key.size(0);
    if (whole && rule.plain() && !sinks.defined() && KeptResults::in_use() == nullptr) {
        if (on_cpu(query))
            return positions_first(std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(
                q, k, v, 0.0, /*is_causal=*/true, std::nullopt, rule.scale)));
        if (rule.kernel == AttentionKernel::cudnn && !query.is_meta())
            return positions_first(at::scaled_dot_product_attention(
                q, k, v, std::nullopt, 0.0, /*is_causal=*/true, rule.scale, query.size(2) != key.size(2)));
    }
    return apply_attention(whole_attention(rule), query, key, value, sinks);
}

} // namespace fourfold::trainer
