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

// Steps of two up and down from the measured layout to the plan's.
std::optional<std::pair<int, int>> steps_between(const MeasuredLayout& measured, const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    const auto degrees = std::to_array<std::pair<int, int>>({{measured.tp, layout.tp}, {measured.cp, layout.cp},
        {measured.pp, layout.pp}, {measured.dp, layout.dp}, {measured.micro_batch, plan.training.micro_batch}});
    std::pair<int, int> sum{0, 0};
    for (const auto& [from, to] : degrees) {
        const auto steps = doublings(from, to);
        if (!steps)
            return std::nullopt;
        sum.first += std::max(0, *steps);
        sum.second += std::max(0, -*steps);
    }
    return sum;
}

// Is the work on a GPU the same kind of work? A setting of a dimension that has one rank changes nothing.
bool same_work(const MeasuredLayout& measured, const ResolvedPlan& plan)
{
    const auto spread = [](int a, int b) { return a > 1 || b > 1; };
    std::vector<const char*> settings{"sharding", "recompute", "precision", "compile", "attention", "offload"};
    if (spread(measured.tp, plan.layout.tp))
        settings.insert(settings.end(), {"sequence_parallel", "async_tp"});
    if (spread(measured.cp, plan.layout.cp))
        settings.push_back("cp_method");
    if (spread(measured.pp, plan.layout.pp))
        settings.push_back("schedule");
    const Json planned = training_json(plan);
    static const Json kDefaults = training_json(ResolvedPlan());
    const Json& usual = plan.stack.training_defaults;
    return std::all_of(settings.begin(), settings.end(), [&](const char* key) {
        if (measured.training.contains(key))
            return measured.training[key] == planned[key];
        return (usual.contains(key) ? usual[key] : kDefaults[key]) == planned[key];
    });
}

// The links over which the plan's ranks talk are as fast, within what a measurement of them scatters.
bool same_links(const MeasuredLayout& measured, const ResolvedPlan& plan)
{
    constexpr double kScatter = 1.25;
    const auto same
        = [](double was, double is) { return was <= 0 || is <= 0 || (is < was * kScatter && was < is * kScatter); };
    const Cluster& cluster = plan.cluster;
    const bool within = plan.gpus > 1 && cluster.gpus_per_node > 1, between = plan.gpus > cluster.gpus_per_node;
    return (!within || same(measured.intra_node_gb_s, cluster.intra_node.link_gb_s()))
        && (!between || same(measured.inter_node_gb_s, cluster.inter_node.bandwidth_gb_s));
}

} // namespace

std::string shape_key(const ModelShape& model)
{
    return "h " + std::to_string(model.hidden) + " L " + std::to_string(model.layers);
}

MeasuredLayout measured_layout(const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    MeasuredLayout measured{plan.stack.id, shape_key(plan.model),
        plan.cluster.gpu.id.empty() ? plan.cluster.name : plan.cluster.gpu.id, plan.training.seq_len, layout.tp,
        layout.cp, layout.pp, layout.dp, plan.training.micro_batch, layout.order, training_json(plan),
        plan.cluster.intra_node.link_gb_s(), plan.cluster.inter_node.bandwidth_gb_s};
    measured.release = plan.stack.release;
    return measured;
}

bool is_same_job(const MeasuredLayout& measured, const ResolvedPlan& plan)
{
    const bool same_software = measured.stack == plan.stack.id
        || (plan.stack.base && measured.stack == plan.stack.base->id); // the same, calibrated
    const bool same_release = plan.stack.release.empty() || measured.release == plan.stack.release;
    return same_software && same_release
        && (measured.model == shape_key(plan.model) || measured.model == plan.model.name)
        && (measured.hardware == plan.cluster.gpu.id || measured.hardware == plan.cluster.name)
        && (measured.seq_len == 0 || measured.seq_len == plan.training.seq_len);
}

bool is_near(const MeasuredLayout& measured, const ResolvedPlan& plan)
{
    if (!is_same_job(measured, plan))
        return false;
    const Layout& layout = plan.layout;
    const auto apart = steps_between(measured, plan);
    if (!apart)
        return false;
    const auto [up, down] = *apart;
    const bool same_gpus = measured.tp * measured.cp * measured.pp * measured.dp == layout.gpus();
    const bool same_batch = measured.micro_batch == plan.training.micro_batch;
    const bool near = up + down <= 1 || (up == 1 && down == 1 && same_gpus && same_batch);
    return near && layout.order == measured.order.value_or(plan.stack.order) && same_work(measured, plan)
        && same_links(measured, plan);
}

bool may_be_measured(const Prediction& prediction)
{
    return prediction.evidence == Evidence::calibrated && prediction.interval;
}

std::optional<int> doublings_apart(const MeasuredLayout& measured, const ResolvedPlan& plan)
{
    const auto apart = steps_between(measured, plan);
    return apart ? std::optional(apart->first + apart->second) : std::nullopt;
}

} // namespace fourfold
