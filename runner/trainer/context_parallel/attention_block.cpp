// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/context_parallel/attention_block.h"

#include "runner/trainer/context_parallel/ruled_attention.h"
#include "runner/trainer/device/kind.h"

#include <ATen/ops/_scaled_dot_product_flash_attention.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_backward.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/logaddexp.h>

namespace fourfold::trainer {

namespace {
// What the fused kernels can: queries that see all keys up to their own, or all.
enum class Sight { causal, all, other };
Sight sight(const Runs& asking, const Runs& asked, const AttentionRule& rule)
{
    if (!rule.plain())
        return Sight::other;
    if (asking == asked)
        return Sight::causal;
    return asked.back().end() <= asking.front().begin ? Sight::all : Sight::other;
}

// FlashAttention on GPUs takes 16-bit types and head dimensions of whole 16-byte vectors.
bool has_flash(const at::Tensor& query)
{
    constexpr int64_t kVector = 8, kLargestHead = 256;
    const bool half = query.scalar_type() == at::kBFloat16 || query.scalar_type() == at::kHalf;
    return !on_cpu(query) && half && query.size(-1) % kVector == 0 && query.size(-1) <= kLargestHead;
}

AttentionGradients attend_backward_flash(const at::Tensor& gradient, const at::Tensor& query, const at::Tensor& key,
    const at::Tensor& value, const at::Tensor& output, const at::Tensor& log_sum, bool causal, double scale)
{
    // Sequences of equal length need no table of their beginnings, and without dropout nobody reads its random state.
    const at::Tensor no_table, random_state = at::empty({2}, query.options().dtype(at::kUInt64));
    // The kernel reads the log-sums as they lie in memory, and the others by rows.
    auto [query_slope, key_slope, value_slope] = at::_scaled_dot_product_flash_attention_backward(gradient.contiguous(),
        query, key, value, output, log_sum.contiguous(), no_table, no_table, query.size(2), key.size(2), 0.0, causal,
        random_state, random_state, scale);
    return {std::move(query_slope), std::move(key_slope), std::move(value_slope)};
}
} // namespace

AttentionPart attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const Runs& asking,
    const Runs& asked, const AttentionRule& rule)
{
    const Sight seen = sight(asking, asked, rule);
    const bool causal = seen == Sight::causal;
    if (seen == Sight::other || (!on_cpu(query) && !has_flash(query)))
        return attend_by_rule(query, key, value, asking, asked, rule);
    if (has_flash(query)) {
        auto result = at::_scaled_dot_product_flash_attention(query, key, value, 0.0, causal, false, rule.scale);
        return {std::get<0>(result), std::get<1>(result)};
    }
    auto [output, log_sum]
        = at::_scaled_dot_product_flash_attention_for_cpu(query, key, value, 0.0, causal, std::nullopt, rule.scale);
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
    const at::Tensor& value, const at::Tensor& output, const at::Tensor& log_sum, const Runs& asking, const Runs& asked,
    const AttentionRule& rule)
{
    const Sight seen = sight(asking, asked, rule);
    const bool causal = seen == Sight::causal;
    if (seen == Sight::other || (!on_cpu(query) && !has_flash(query)))
        return attend_backward_by_rule(gradient, query, key, value, output, log_sum, asking, asked, rule);
    if (has_flash(query))
        return attend_backward_flash(gradient, query, key, value, output, log_sum, causal, rule.scale);
    auto [query_slope, key_slope, value_slope] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
        gradient, query, key, value, output, log_sum, 0.0, causal, std::nullopt, rule.scale);
    return {std::move(query_slope), std::move(key_slope), std::move(value_slope)};
}

} // namespace fourfold::trainer
