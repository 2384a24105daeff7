// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/measured_layouts.h"

#include <algorithm>
#include <array>

namespace fourfold {

namespace {

// Steps of two from a to b; empty where their ratio is no power of two.
std::optional<int> doublings(int a, int b)
{
    int steps = 0;
    for (; a < b && b % 2 == 0; b /= 2)
        ++steps;
    for (; b < a && a % 2 == 0; a /= 2)
        --steps;
    return a == b ? std::optional(steps) : std::nullopt;
}

} // namespace

std::string shape_key(const ModelShape& model)
{
    return "h " + std::to_string(model.hidden) + " L " + std::to_string(model.layers);
}

bool is_near(const MeasuredLayout& measured, const ResolvedPlan& plan)
{
    if (measured.stack != plan.stack.id
        || (measured.model != shape_key(plan.model) && measured.model != plan.model.name)
        || (measured.hardware != plan.cluster.gpu.id && measured.hardware != plan.cluster.name)
        || (measured.seq_len != 0 && measured.seq_len != plan.training.seq_len)
        || (!measured.precision.empty() && measured.precision != to_text(plan.training.precision)))
        return false;
    const Layout& layout = plan.layout;
    const std::array<std::pair<int, int>, 5> degrees{{{measured.tp, layout.tp}, {measured.cp, layout.cp},
        {measured.pp, layout.pp}, {measured.dp, layout.dp}, {measured.micro_batch, plan.training.micro_batch}}};
    int up = 0, down = 0;
    for (const auto& [from, to] : degrees) {
        const auto steps = doublings(from, to);
        if (!steps)
            return false;
        up += std::max(0, *steps);
        down += std::max(0, -*steps);
    }
    const bool same_gpus = measured.tp * measured.cp * measured.pp * measured.dp == layout.gpus();
    const bool same_batch = measured.micro_batch == plan.training.micro_batch;
    return up + down <= 1 || (up == 1 && down == 1 && same_gpus && same_batch);
}

void weigh_measurements(Prediction& prediction, const std::vector<MeasuredLayout>& measured)
{
    if (prediction.evidence != Evidence::calibrated || !prediction.interval)
        return;
    if (std::any_of(measured.begin(), measured.end(),
            [&](const MeasuredLayout& layout) { return is_near(layout, prediction.plan); }))
        prediction.evidence = Evidence::measured;
}

} // namespace fourfold
