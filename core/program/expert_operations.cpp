// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/layer_operations.h"

#include <algorithm>

namespace fourfold {

void add_expert_operations(
    std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, double repeat, double recompute)
{
    const Experts& experts = *plan.model.experts;
    add_product(list, plan, "router", rank.tokens / rank.sequence_split, experts.count, rank.hidden, 1, repeat,
        recompute, false, true);
    add_product(list, plan, "experts up", rank.expert_rows, rank.mlp_inputs * rank.expert_ffn / rank.expert_tp,
        rank.hidden, rank.local_experts, repeat, recompute, true, true);
    add_product(list, plan, "experts down", rank.expert_rows, rank.hidden, rank.expert_ffn / rank.expert_tp,
        rank.local_experts, repeat, recompute, true, true);

    // Sorting tokens by expert and back, with the weighted sum of the copies.
    Operation permute;
    permute.kind = OperationKind::elementwise;
    permute.name = "token permutation";
    permute.bytes = 4 * rank.routed_tokens * rank.hidden * rank.element_bytes;
    permute.repeat = repeat;
    add_passes(list, permute, recompute);
    if (plan.layout.ep <= 1)
        return;
    Operation exchange;
    exchange.kind = OperationKind::collective;
    exchange.collective = Collective::all_to_all;
    exchange.part = Part::ep;
    exchange.group = GroupKind::ep;
    exchange.name = "expert all-to-all (dispatch and combine)";
    exchange.note = "each rank sends top-k copies of its tokens; balanced routing";
    exchange.n = experts.active;
    exchange.k = experts.count;
    exchange.m = experts.active_groups;
    exchange.batch = std::max(1, experts.groups);
    exchange.bytes = rank.routed_tokens * rank.hidden * rank.element_bytes;
    exchange.repeat = 2 * repeat;
    exchange.phase = Phase::forward;
    list.push_back(exchange);
    exchange.phase = Phase::backward;
    list.push_back(exchange);
    if (recompute > 0) {
        exchange.phase = Phase::recompute;
        exchange.repeat = 2 * repeat * recompute;
        list.push_back(exchange);
    }
}

} // namespace fourfold
