// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/allocations.h"
#include "core/program/layer_operations.h"

#include <algorithm>

namespace fourfold {

void add_activation_offload(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank,
    LayerGroup group, double recompute_layers)
{
    double kept = layer_activation_bytes(plan, rank, group.moe);
    const double again = std::min<double>(recompute_layers, group.layers) / group.layers;
    if (plan.training.recompute == Recompute::full)
        kept += again * (layer_input_bytes(rank) - kept);
    else if (plan.training.recompute == Recompute::selective)
        kept -= again * freed_selectively(plan, rank, group.moe, kept);
    const auto add = [&](const char* name, Phase phase) {
        list.push_back({.name = name,
            .phase = phase,
            .part = Part::other,
            .repeat = double(group.layers),
            .in_layer = false,
            .window = Window::layer,
            .work = HostCost{.constant = Constant::host_transfer_s_per_gb, .times = kept / 1e9}});
    };
    add("activations to the host", Phase::forward);
    add("activations from the host", Phase::backward);
}

} // namespace fourfold
