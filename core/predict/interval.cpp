// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/interval.h"

#include "core/stack/constants.h"

#include <cmath>

namespace fourfold {
namespace {

constexpr int kManyGpus = 256; // pipelines on this many GPUs and more were hardly ever measured

Range around(double value, double half_width)
{
    return {value * std::exp(-half_width), value * std::exp(half_width)};
}

} // namespace

Evidence evidence_for(const ResolvedPlan& plan)
{
    return plan.stack.calibrated_for(plan.cluster.gpu.id) ? Evidence::calibrated : Evidence::extrapolated;
}

double time_half_width(const ResolvedPlan& plan)
{
    const Constants constants(plan.stack, plan.cluster.gpu.id);
    double width = constants[Constant::interval_hundreds];
    if (plan.gpus <= 8)
        width = constants[Constant::interval_node];
    else if (plan.gpus <= 64)
        width = constants[Constant::interval_tens];
    if (evidence_for(plan) == Evidence::extrapolated)
        width *= constants[Constant::interval_extrapolated_factor];
    return width;
}

Interval interval_of(const ResolvedPlan& plan, double step_time_s, double tps_per_gpu, double memory_gib)
{
    const Constants constants(plan.stack, plan.cluster.gpu.id);
    const double time = time_half_width(plan);
    double memory = constants[Constant::interval_memory];
    if (evidence_for(plan) == Evidence::extrapolated)
        memory *= constants[Constant::interval_extrapolated_factor];
    Interval interval;
    interval.step_time_s = around(step_time_s, time);
    interval.tps_per_gpu = around(tps_per_gpu, time);
    interval.memory_gib = around(memory_gib, memory);
    return interval;
}

std::vector<std::string> regime_warnings(const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    std::vector<std::string> warnings;
    if (evidence_for(plan) == Evidence::extrapolated)
        warnings.push_back("no measurements of stack " + plan.stack.id + " on " + plan.cluster.gpu.name
            + ": its constants are estimates");
    if (layout.cp > 1 && span(layout, {Dimension::cp}, plan.cluster.gpus_per_node).crosses_nodes())
        warnings.emplace_back("context parallelism crosses nodes: few measurements, and the network decides");
    if (layout.cp > 1 && layout.pp > 1 && layout.tp * layout.cp * layout.pp > plan.cluster.gpus_per_node)
        warnings.emplace_back(
            "context and pipeline parallelism together beyond a node: measured runs scatter by 10 % and more");
    if (layout.pp > 1 && plan.gpus >= kManyGpus)
        warnings.push_back("pipeline parallelism on " + std::to_string(plan.gpus) + " GPUs: few measurements");
    if (plan.training.offload != Offload::none)
        warnings.push_back("offload to host memory: the memory that it frees is counted, the transfers' time is not");
    if (plan.training.ramp_up)
        warnings.emplace_back("the batch ramps up: this prediction holds for the full global batch");
    return warnings;
}

} // namespace fourfold
