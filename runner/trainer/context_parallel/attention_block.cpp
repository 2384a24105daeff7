// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/context_parallel/attention_block.h"

#include <ATen/ops/_scaled_dot_product_flash_attention.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_backward.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/logaddexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>

#include <cmath>
#include <limits>

namespace fourfold::trainer {

namespace {
// The formulas as written, for what no fused kernel of the device takes (fp32 and fp64 on a GPU): the scores are in
// memory.
struct Plain {
    at::Tensor query, key, value; // [b, kv_heads, heads / kv_heads, s or t, head_dim], keys broadcast over dimension 2
    at::Tensor scores; // scaled, -inf where masked

    Plain(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, bool causal)
    {
        const auto exact = q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
        const int64_t groups = k.size(1), shared = q.size(1) / groups;
        query = q.to(exact).reshape({q.size(0), groups, shared, q.size(2), q.size(3)});
        key = k.to(exact).unsqueeze(2);
        value = v.to(exact).unsqueeze(2);
        scores = at::matmul(query, key.transpose(-1, -2)).mul_(scale());
        if (causal)
            scores.masked_fill_(at::ones({q.size(2), k.size(2)}, q.options().dtype(at::kBool)).triu(1),
                -std::numeric_limits<double>::infinity());
    }
    [[nodiscard]] double scale() const { return 1 / std::sqrt(double(query.size(-1))); }
    // As the fused kernels give it: groups of heads side by side.
    [[nodiscard]] at::Tensor by_head(const at::Tensor& grouped, int64_t last) const
    {
        return grouped.reshape({query.size(0), query.size(1) * query.size(2), query.size(3), last});
    }
    [[nodiscard]] at::Tensor grouped(const at::Tensor& heads) const
    {
        return heads.to(scores.scalar_type()).reshape({query.size(0), query.size(1), query.size(2), query.size(3), -1});
    }
};

AttentionPart attend_plain(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, bool causal)
{
    const Plain plain(query, key, value, causal);
    const at::Tensor log_sum = plain.scores.logsumexp(-1, true);
    const at::Tensor output = at::matmul(plain.scores.sub(log_sum).exp_(), plain.value);
    return {plain.by_head(output, query.size(-1)).to(query.scalar_type()), plain.by_head(log_sum, 1).squeeze(-1)};
}

AttentionGradients attend_backward_plain(const at::Tensor& gradient, const at::Tensor& query, const at::Tensor& key,
    const at::Tensor& value, const at::Tensor& output, const at::Tensor& log_sum, bool causal)
{
    const Plain plain(query, key, value, causal);
    const at::Tensor weights = plain.scores.sub(plain.grouped(log_sum.unsqueeze(-1))).exp_();
    const at::Tensor slope = plain.grouped(gradient);
    const at::Tensor mean = slope.mul(plain.grouped(output)).sum(-1, true);
    const at::Tensor score_slope
        = at::matmul(slope, plain.value.transpose(-1, -2)).sub_(mean).mul_(weights).mul_(plain.scale());
    const at::Tensor key_slope = at::matmul(score_slope.transpose(-1, -2), plain.query).sum(2);
    const at::Tensor value_slope = at::matmul(weights.transpose(-1, -2), slope).sum(2);
    return {plain.by_head(at::matmul(score_slope, plain.key), query.size(-1)).to(query.scalar_type()),
        key_slope.to(key.scalar_type()), value_slope.to(value.scalar_type())};
}

// FlashAttention on GPUs takes 16-bit types and head dimensions of whole 16-byte vectors.
bool has_flash(const at::Tensor& query)
{
    constexpr int64_t kVector = 8, kLargestHead = 256;
    const bool half = query.scalar_type() == at::kBFloat16 || query.scalar_type() == at::kHalf;
    return !query.is_cpu() && half && query.size(-1) % kVector == 0 && query.size(-1) <= kLargestHead;
}

AttentionGradients attend_backward_flash(const at::Tensor& gradient, const at::Tensor& query, const at::Tensor& key,
    const at::Tensor& value, const at::Tensor& output, const at::Tensor& log_sum, bool causal)
{
    // Sequences of equal length need no table of their beginnings, and without dropout nobody reads its random state.
    const at::Tensor no_table, random_state = at::empty({2}, query.options().dtype(at::kUInt64));
    // The kernel reads the log-sums as they lie in memory, and the others by rows.
    auto [query_slope, key_slope, value_slope] = at::_scaled_dot_product_flash_attention_backward(gradient.contiguous(),
        query, key, value, output, log_sum.contiguous(), no_table, no_table, query.size(2), key.size(2), 0.0, causal,
        random_state, random_state);
    return {std::move(query_slope), std::move(key_slope), std::move(value_slope)};
}
} // namespace

AttentionPart attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, bool causal)
{
    if (has_flash(query)) {
        auto result = at::_scaled_dot_product_flash_attention(query, key, value, 0.0, causal);
        return {std::get<0>(result), std::get<1>(result)};
    }
    if (!query.is_cpu())
        return attend_plain(query, key, value, causal);
    auto [output, log_sum] = at::_scaled_dot_product_flash_attention_for_cpu(query, key, value, 0.0, causal);
    return {std::move(output), std::move(log_sum)};
}

void merge(const at::Tensor& output, const at::Tensor& log_sum, const AttentionPart& part)
{
    const at::Tensor total = at::logaddexp(log_sum, part.log_sum);
    output.mul_(log_sum.sub(total).exp_().unsqueeze(-1));
    output.addcmul_(part.output.to(output.scalar_type()), part.log_sum.sub(total).exp_().unsqueeze(-1));
    log_sum.copy_(total);
}

AttentionGradients attend_backward(const at::Tensor& gradient, const at::Tensor& query, const at::Tensor& key,
    const at::Tensor& value, const at::Tensor& output, const at::Tensor& log_sum, bool causal)
{
    if (has_flash(query))
        return attend_backward_flash(gradient, query, key, value, output, log_sum, causal);
    if (!query.is_cpu())
        return attend_backward_plain(gradient, query, key, value, output, log_sum, causal);
    auto [query_slope, key_slope, value_slope] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
        gradient, query, key, value, output, log_sum, 0.0, causal);
    return {std::move(query_slope), std::move(key_slope), std::move(value_slope)};
}

} // namespace fourfold::trainer
