// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/layer_operations.h"

#include "core/plan/plan_schedule.h"

#include <algorithm>

namespace fourfold {

void add_beside(std::vector<Operation>& list, const ResolvedPlan& plan, bool beside, const Operation& op)
{
    const double alone = !beside ? 1 : plan.layout.pp == 1 ? 1.0 / plan.training.micro_batches : 0;
    if (alone < 1) {
        Operation hidden = op;
        hidden.repeat *= 1 - alone;
        hidden.window = Window::layer;
        hidden.exposed_floor = Constant::zero;
        list.push_back(std::move(hidden));
    }
    if (alone > 0) {
        list.push_back(op);
        list.back().repeat *= alone;
        if (beside)
            list.back().name += ", with no micro-batch beside it";
    }
}

void add_token_exchange(
    std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank, double repeat, double recompute)
{
    const Experts& experts = *plan.model.experts;
    // Sorting tokens by expert and back, with the weighted sum of the copies.
    add_passes(list,
        {.name = "token permutation",
            .repeat = repeat,
            .work = Elementwise{.bytes = 4 * rank.routed_tokens * rank.hidden * rank.element_bytes}},
        recompute);
    if (plan.layout.ep <= 1)
        return;
    // DeepSeek-V3 (arXiv:2412.19437, section 3.3.3) sends tokens to the experts in fp8 and takes them back in bf16.
    const bool narrow = plan.training.precision == Precision::fp8 && plan.training.fp8_recipe == Fp8Recipe::blockwise;
    const double bytes = ((narrow ? 1 : rank.element_bytes) + rank.element_bytes) / 2;
    const auto add_exchange = [&](Phase phase, double share) {
        add_beside(list, plan, exchanges_beside(plan),
            {.name = "expert all-to-all (dispatch and combine)",
                .phase = phase,
                .part = Part::ep,
                .repeat = 2 * repeat * share,
                .note = "each rank sends top-k copies of its tokens; balanced routing",
                .work = Collective{.kind = Collective::all_to_all,
                    .group = GroupKind::ep,
                    .bytes = rank.routed_tokens * rank.hidden * bytes,
                    .routing = {.active = double(experts.active),
                        .experts = double(experts.count),
                        .active_groups = double(experts.active_groups),
                        .groups = double(std::max(1, experts.groups))}}});
    };
    add_exchange(Phase::forward, 1);
    add_exchange(Phase::backward, 1);
    if (recompute > 0)
        add_exchange(Phase::recompute, recompute);
}

} // namespace fourfold
