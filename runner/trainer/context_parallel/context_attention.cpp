// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/context_parallel/context_attention.h"

#include "runner/trainer/context_parallel/gather_attention.h"
#include "runner/trainer/context_parallel/head_exchange.h"
#include "runner/trainer/context_parallel/ring_attention.h"
#include "runner/trainer/model/attention.h"

#include <numeric>

namespace fourfold::trainer {

namespace {
// This rank's of `cp` parts of a value for each head.
at::Tensor own_heads(const at::Tensor& of_heads, const Communicator& cp)
{
    const int64_t part = of_heads.defined() ? of_heads.size(0) / cp.size() : 0;
    return of_heads.defined() ? of_heads.narrow(0, cp.rank() * part, part) : of_heads;
}

// Each key head so often that their number can be cut.
at::Tensor repeated(const at::Tensor& keys, int64_t times)
{
    if (times == 1)
        return keys;
    const auto shape = keys.sizes();
    return keys.unsqueeze(3)
        .expand({shape[0], shape[1], shape[2], times, shape[3]})
        .reshape({shape[0], shape[1], shape[2] * times, shape[3]});
}

at::Tensor by_heads(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const at::Tensor& sinks,
    const AttentionRule& rule, const Communicator& cp)
{
    AttentionRule own = rule;
    own.slopes = own_heads(rule.slopes, cp);
    const int64_t times = cp.size() / std::gcd(key.size(2), int64_t(cp.size()));
    const at::Tensor mixed = causal_attention(to_heads(query, cp), to_heads(repeated(key, times), cp),
        to_heads(repeated(value, times), cp), own_heads(sinks, cp), own);
    const at::Tensor heads = mixed.view({mixed.size(0), mixed.size(1), query.size(2) / cp.size(), query.size(3)});
    return to_positions(heads, cp).flatten(2);
}
} // namespace

at::Tensor context_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const at::Tensor& sinks, const AttentionRule& rule, const Communicator& cp, CpMethod method)
{
    if (cp.size() == 1)
        return causal_attention(query, key, value, sinks, rule);
    if (method == CpMethod::ulysses)
        return by_heads(query, key, value, sinks, rule, cp);
    return apply_attention(method == CpMethod::all_gather ? gather_attention(rule, cp) : ring_attention(rule, cp),
        query, key, value, sinks);
}

} // namespace fourfold::trainer
