// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/graphed_layers.h"

#include "core/plan/plan_schedule.h"
#include "core/plan/trainable.h"

#include <algorithm>
#include <utility>

namespace fourfold {

bool wants_graphs(const ResolvedPlan& plan)
{
    const auto found = plan.run.environment.find(std::string(kGraphsVariable));
    return found != plan.run.environment.end() && !found->second.empty() && found->second != "0";
}

std::string why_no_graphs(const ResolvedPlan& plan)
{
    const Training& training = plan.training;
    const Layout& layout = plan.layout;
    const bool pipeline = layout.pp > 1;
    const std::pair<bool, const char*> reasons[]{
        {!is_of_trainer(plan), "other software than the bundled trainer's has switches of its own"},
        {plan.cluster.gpu.is_cpu(), "CPUs have none"},
        {!training.compile, "training.compile is false"},
        {layout.tp > 1 || layout.cp > 1,
            "layers communicate under tp and cp, and what a graph sends no watch over collectives would see"},
        {training.sharding == Sharding::parameters || training.sharding == Sharding::hybrid,
            "gathered weights lie elsewhere each time (training.sharding)"},
        {training.sharding == Sharding::gradients || training.optimizer_in_backward,
            "the memory of gradients is given back (training.sharding, training.optimizer_in_backward)"},
        {training.offload == Offload::activations, "activations leave for the host's memory (training.offload)"},
        {is_of_products(training.precision), "the ranks of a step tell each other the scales of 8-bit numbers"},
        {plan.run.documents.mask, "each micro-batch has other documents (run.documents.mask)"},
        {pipeline && (training.schedule == Schedule::csv || traits_of(training.schedule).splits_backward),
            "the schedule takes weight gradients out of the backward pass"},
        {passes_side_by_side(plan), "passes over two micro-batches take turns (training.overlap.expert_exchange)"},
        {plan.model.moe_layers() == plan.model.layers, "how many tokens an expert gets is known only when it is there"},
        {training.recompute != Recompute::none
                && recomputed_layers(training, 0, plan.model.layers) == plan.model.layers,
            "all layers are computed once more in the backward pass (training.recompute)"},
    };
    const auto* const first = std::ranges::find(reasons, true, &std::pair<bool, const char*>::first);
    return first == std::end(reasons) ? "" : first->second;
}

bool is_graphed(const ResolvedPlan& plan, int layer, bool repeats)
{
    return !repeats && !plan.model.is_moe_layer(layer);
}

double graphed_layers(const ResolvedPlan& plan, int first, int layers, double recompute_layers)
{
    if (layers == 0 || !wants_graphs(plan) || !why_no_graphs(plan).empty())
        return 0;
    int dense = 0;
    for (int layer = first; layer < first + layers; ++layer)
        dense += is_graphed(plan, layer, false) ? 1 : 0;
    const double repeated = plan.training.recompute == Recompute::none ? 0 : recompute_layers;
    return dense * (1 - std::min(1.0, repeated / layers));
}

std::vector<int> most_in_flight(const std::vector<Action>& actions, int chunks)
{
    std::vector<int> now(std::size_t(chunks), 0), most = now;
    for (const Action& action : actions) {
        const auto chunk = std::size_t(action.chunk);
        if (action.kind == ActionKind::forward)
            most[chunk] = std::max(most[chunk], ++now[chunk]);
        else if (action.kind != ActionKind::weight_gradient)
            --now[chunk];
    }
    return most;
}

} // namespace fourfold
