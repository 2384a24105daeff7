// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/attention.h"

#include <ATen/ops/_scaled_dot_product_flash_attention.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <cmath>
#include <limits>

namespace fourfold::trainer {

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

at::Tensor alibi_bias(int heads, int first, int count, int64_t seq_len, const at::TensorOptions& options)
{
    const auto slopes = alibi_slopes(heads);
    const at::Tensor bias = at::empty({1, count, seq_len, seq_len}, at::kDouble);
    auto* value = bias.data_ptr<double>();
    for (int head = first; head < first + count; ++head)
        for (int64_t i = 0; i < seq_len; ++i)
            for (int64_t j = 0; j < seq_len; ++j)
                *value++ = j > i ? -std::numeric_limits<double>::infinity() : slopes[std::size_t(head)] * double(j - i);
    return bias.to(options);
}

at::Tensor causal_attention(
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const at::Tensor& bias)
{
    const bool grouped = query.size(2) != key.size(2);
    const auto heads_first = [](const at::Tensor& x) { return x.permute({1, 2, 0, 3}); }; // [b, heads, s, head_dim]
    const std::optional<at::Tensor> mask = bias.defined() ? std::optional(bias) : std::nullopt;
    // What scaled_dot_product_attention() takes on a GPU: for tensors without values it would take the plain formula.
    if (query.is_meta() && !mask && query.scalar_type() != at::kFloat && query.scalar_type() != at::kDouble) {
        const auto result = at::_scaled_dot_product_flash_attention(
            heads_first(query), heads_first(key), heads_first(value), 0.0, /*is_causal=*/true);
        return std::get<0>(result).permute({2, 0, 1, 3}).reshape({query.size(0), query.size(1), -1});
    }
    const at::Tensor mixed = at::scaled_dot_product_attention(heads_first(query), heads_first(key), heads_first(value),
        mask, 0.0, /*is_causal=*/!mask, std::nullopt, grouped);
    return mixed.permute({2, 0, 1, 3}).reshape({query.size(0), query.size(1), -1});
}

} // namespace fourfold::trainer
