// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/allocations.h"
#include "core/program/layer_operations.h"

#include <algorithm>

namespace fourfold {

void add_activation_offload(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank,
    LayerGroup group, double recompute_layers)
{
    double kept = layer_activation_bytes(plan, rank, group.moe);
    if (plan.training.recompute == Recompute::full) {
        const double again = std::min<double>(recompute_layers, group.layers) / group.layers;
        const double input = rank.tokens * rank.hidden * rank.element_bytes / rank.sequence_split;
        kept += again * (input - kept);
    }
    Operation op;
    op.kind = OperationKind::host;
    op.part = Part::other;
    op.in_layer = false;
    op.overlappable = true;
    op.window = Window::layer;
    op.constant = Constant::host_transfer_s_per_gb;
    op.m = kept / 1e9;
    op.repeat = group.layers;
    op.phase = Phase::forward;
    op.name = "activations to the host";
    list.push_back(op);
    op.phase = Phase::backward;
    op.name = "activations from the host";
    list.push_back(op);
}

} // namespace fourfold
