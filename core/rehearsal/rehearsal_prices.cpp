// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/rehearsal/rehearsal_prices.h"

#include "core/cost/prices.h"
#include "core/program/block_attention.h"

#include <algorithm>

namespace fourfold {

namespace {
GroupKind group_called(std::string_view wanted)
{
    if (wanted.starts_with("pp")) // a link of the pipeline
        return GroupKind::pp;
    for (std::size_t kind = 0; kind < kGroupKinds; ++kind)
        if (name(GroupKind(kind)) == wanted)
            return GroupKind(kind);
    return wanted == "ends" ? GroupKind::pp : GroupKind::world;
}
} // namespace

RehearsalPrices::RehearsalPrices(const ResolvedPlan& plan)
    : context_(plan)
    , exact_(times_of_exact_products(plan))
    , ring_blocks_(plan.training.cp_method == CpMethod::ulysses ? 1 : plan.layout.cp)
{
}

double RehearsalPrices::wire(std::string_view group, const WireOperation& asked) const
{
    const GroupKind kind = group_called(group);
    if (!asked.messages.empty())
        return price_send_receive({.group = kind, .bytes = double(asked.bytes)}, context_).seconds;
    Collective collective{.group = kind, .bytes = double(asked.bytes), .ends_only = group == "ends"};
    collective.kind = asked.kind == "all_gather" ? Collective::all_gather
        : asked.kind == "reduce_scatter"         ? Collective::reduce_scatter
                                                 : Collective::all_reduce;
    return price_collective(collective, context_).seconds;
}

double RehearsalPrices::product(const Gemm& product, bool exact) const
{
    const double times = exact ? exact_ : 1;
    // The two products of attention in memory, scores and what they weigh: half of what the planner has for both.
    constexpr double kWidestHead = 512;
    if (const double head_dim = std::min(product.n, product.k); product.batch > 1 && head_dim <= kWidestHead) {
        const Attention both{.queries = product.m,
            .keys = std::max(product.n, product.k),
            .head_dim = head_dim,
            .batch = product.batch,
            .causal = false,
            .fused = false};
        return price({.work = both}, context_).seconds / 2 * times;
    }
    return price({.work = product}, context_).seconds * times;
}

double RehearsalPrices::attention(Attention attention, Phase phase) const
{
    attention.blocks = ring_blocks_;
    return price({.phase = phase, .work = attention}, context_).seconds;
}

double RehearsalPrices::traffic(double bytes) const
{
    return price({.work = Elementwise{.bytes = bytes}}, context_).seconds;
}

double RehearsalPrices::host_copy(double bytes) const
{
    return bytes / 1e9 * context_.constants[Constant::host_transfer_s_per_gb];
}

double RehearsalPrices::host_update(double parameters) const
{
    const Constants& constants = context_.constants;
    return parameters * constants[Constant::optimizer_shard_bytes] / 1e9 * constants[Constant::host_update_s_per_gb];
}

} // namespace fourfold
