// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/compare/grid_around.h"

#include <algorithm>

namespace fourfold::view {

namespace {
constexpr int kMostAround = 40; // rows that a screen shows
} // namespace

std::vector<GridLayout> layouts_around(const ResolvedPlan& plan)
{
    std::vector<GridLayout> layouts;
    const int largest_tp = std::min({plan.cluster.gpus_per_node, plan.gpus, plan.model.heads});
    for (int pp = 1; pp <= std::min({plan.gpus, plan.model.layers, 16}); pp *= 2) {
        for (int cp = 1; cp <= std::max(plan.layout.cp, 1); cp *= 2) {
            for (int tp = 1; tp <= largest_tp; tp *= 2) {
                if (tp * cp * pp <= plan.gpus && static_cast<int>(layouts.size()) < kMostAround)
                    layouts.push_back({tp, cp, pp, plan.training.micro_batch, 1});
            }
        }
    }
    const GridLayout own{
        plan.layout.tp, plan.layout.cp, plan.layout.pp, plan.training.micro_batch, plan.layout.virtual_stages};
    if (std::find(layouts.begin(), layouts.end(), own) == layouts.end())
        layouts.push_back(own);
    std::sort(layouts.begin(), layouts.end());
    return layouts;
}

std::vector<int> gpus_around(const ResolvedPlan& plan)
{
    std::vector<int> gpus;
    for (const int quarters : {1, 2, 4, 8, 16}) {
        if (plan.gpus * quarters % 4 == 0)
            gpus.push_back(plan.gpus * quarters / 4);
    }
    return gpus;
}

} // namespace fourfold::view
