// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/own_kept.h"

namespace fourfold {

template <typename Number>
Number filled_output(const ResolvedPlan& plan, const RankShape& rank)
{
    if (!plan.model.latent || plan.model.latent->value_head_dim >= plan.model.head_dim)
        return 0.0;
    return input<Number>("tokens", rank.tokens) * input<Number>("heads", rank.heads)
        * input<Number>("width of a head", double(plan.model.head_dim)) * input<Number>("bytes", rank.element_bytes);
}

template <typename Number>
Number kept_of_latents(const ResolvedPlan& plan, const RankShape& rank)
{
    if (!plan.model.latent)
        return 0.0;
    const LatentAttention& latent = *plan.model.latent;
    const double wider = double(latent.value_head_dim) - double(plan.model.head_dim);
    // Each is normed by rows; what the norm gives is gathered for the product behind it.
    Number elements = input<Number>("latents", double(latent.q_rank + latent.kv_rank))
        * (1 + 1 / input<Number>("TP", rank.sequence_split));
    if (wider != 0) // values, or queries and keys
        elements += (wider > 0 ? 2.0 : 1.0) * input<Number>("heads", rank.heads)
            * input<Number>("filling of a head", wider > 0 ? wider : -wider);
    return input<Number>("tokens", rank.tokens) * elements * input<Number>("bytes", rank.element_bytes)
        + filled_output<Number>(plan, rank);
}

template <typename Number>
Number kept_of_routing(const ResolvedPlan& plan, const RankShape& rank)
{
    const Experts& experts = *plan.model.experts;
    constexpr double kExact = 4, kIndex = 8; // bytes
    const Number hidden = input<Number>("hidden", rank.hidden), count = input<Number>("experts", experts.count),
                 active = input<Number>("active experts", experts.active);
    // Of a token: its scores; which experts it chose; their weights before and after they were made to add up, and as
    // what the copies are multiplied by.
    Number token = kExact * count + kIndex * active + 3 * kExact * active;
    Number bytes = 0.0;
    if (rank.element_bytes < kExact) { // the router computes in fp32; what its norm gave only shared experts keep
        token += kExact * hidden;
        if (rank.moe_layer.mlp == 0)
            token = token - input<Number>("bytes", rank.element_bytes) * hidden;
        bytes = kExact * count * hidden; // its matrix
    }
    // Of a copy: its place among those that are sorted by expert, both ways; and by rank where several experts are on
    // each of several ranks.
    const double places = plan.layout.ep > 1 && rank.local_experts > 1 ? 4 : 2;
    return bytes + input<Number>("tokens", rank.tokens) / input<Number>("TP", rank.sequence_split) * token
        + places * kIndex * input<Number>("routed tokens", rank.routed_tokens);
}

template double filled_output(const ResolvedPlan&, const RankShape&);
template Formula filled_output(const ResolvedPlan&, const RankShape&);
template double kept_of_latents(const ResolvedPlan&, const RankShape&);
template Formula kept_of_latents(const ResolvedPlan&, const RankShape&);
template double kept_of_routing(const ResolvedPlan&, const RankShape&);
template Formula kept_of_routing(const ResolvedPlan&, const RankShape&);

} // namespace fourfold
