// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/context.h"
#include "core/base/parallel.h"
#include "core/plan/plan_constants.h"
#include "core/program/rank_shape.h"

#include "core/cost/runtime_switches.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace fourfold {
namespace {

// NVIDIA H100 SXM5 80GB data sheet: 989.4 TFLOP/s dense bf16 on 132 multiprocessors, 3.35 TB/s.
constexpr double kHopperMultiprocessorRate = 989.4e12 / 132, kHopperBalance = 989.4e12 / 3.35e12;

// An A100's multiprocessor over an H100's: 312 / 108 over 989.4 / 132.
constexpr double kAmpereRatio = 0.385;

// Of the gain over bf16 what a recipe keeps: scales of rows and blocks are applied outside the matrix units, on Hopper
// every 128 products (DeepSeek-V3, arXiv:2412.19437, section 3.3.2); those of mxfp8 inside.
double recipe_share(Fp8Recipe recipe, const Constants& constants)
{
    switch (recipe) {
    case Fp8Recipe::rowwise:
        return 0.8;
    case Fp8Recipe::blockwise:
        return constants[Constant::fp8_blockwise_share];
    case Fp8Recipe::tensorwise:
    case Fp8Recipe::mxfp8:
        break;
    }
    return 1;
}

bool has_known_cores(const ResolvedPlan& plan)
{
    return plan.cluster.gpu.is_cpu() && plan.cluster.id == "this-computer";
}

// Work of a rank that does not grow with its tensors.
constexpr Constant kFixedCosts[] = {Constant::kernel_floor_s, Constant::collective_latency_s, Constant::step_overhead_s,
    Constant::layer_floor_forward_s, Constant::layer_floor_backward_s, Constant::layer_floor_tp_s,
    Constant::micro_batch_overhead_s, Constant::pipeline_latency_s, Constant::cp_step_s};

// Of communication, what never hides.
constexpr Constant kExposedShares[] = {Constant::gradient_exposed_floor, Constant::fsdp_exposed_floor,
    Constant::tp_exposed, Constant::async_tp_exposed, Constant::weight_gather_exposed};

// `ranks`: ascending.
GroupSpan span_of(const std::vector<int>& ranks, int gpus_per_node)
{
    GroupSpan span;
    span.size = int(ranks.size());
    span.nodes = span.per_node = 0;
    int node = -1, on_node = 0;
    for (const int rank : ranks) {
        const int home = rank / std::max(1, gpus_per_node);
        on_node = home == node ? on_node + 1 : 1;
        span.nodes += home != node ? 1 : 0;
        span.per_node = std::max(span.per_node, on_node);
        node = home;
    }
    return span;
}

} // namespace

double core_share(const ResolvedPlan& plan, double thread_scaling, unsigned cores)
{
    constexpr double kMostUsefulCores = 4; // of one rank: small models do not scale further
    if (!has_known_cores(plan) || cores == 0)
        return 1;
    const double per_rank = double(cores) / std::max(1, plan.gpus);
    return per_rank <= 1 ? 1 / per_rank : std::pow(std::min(per_rank, kMostUsefulCores), -thread_scaling);
}

CostContext::CostContext(const ResolvedPlan& plan, bool formulas)
    : cluster(plan.cluster)
    , constants(constants_of(plan))
    , with_formulas(formulas)
{
    const Precision precision = plan.training.precision;
    const Gpu& gpu = cluster.gpu;
    peak_flops = gpu.peak_flops(is_of_products(precision) ? Precision::bf16 : precision);
    set_narrow(plan.training);
    memory_bytes_s = gpu.memory_bandwidth_gb_s * 1e9;
    const double memory_rate = memory_bytes_s;
    if (gpu.multiprocessors > 0 && memory_rate > 0) {
        multiprocessor_ratio = peak_flops / gpu.multiprocessors / kHopperMultiprocessorRate;
        balance_ratio = peak_flops / memory_rate / kHopperBalance;
        const double newer = std::log(multiprocessor_ratio / kAmpereRatio) / std::log(1 / kAmpereRatio);
        clock_share = 1 - (1 - constants[Constant::sustained_clock]) * std::clamp(newer, 0.0, 1.0);
    }
    if (gpu.product_power_w > 0 && gpu.power_w > 0)
        clock_share = std::min(1.0, gpu.power_w / gpu.product_power_w);
    exponential_ratio = gpu.exponentials_per_clock / Gpu().exponentials_per_clock;
    whole_recompute = plan.training.recompute == Recompute::full;
    const double full_rate = peak_flops;
    peak_flops *= gpu.power_share();
    attention = plan.training.attention;
    launch_blocking = runtime_switches(plan.run.environment).launch_blocking;
    operand_bytes = precision == Precision::fp32 ? 4 : 2;

    const unsigned cores = cores_here();
    const double share = core_share(plan, constants[Constant::thread_scaling], cores);
    limit_flops = full_rate / share;
    limit_bytes_s = memory_bytes_s / share;
    core_speedup = std::max(1.0, 1 / share);
    peak_flops /= std::max(1.0, share);
    memory_bytes_s /= std::max(1.0, share);
    if (has_known_cores(plan) && plan.gpus >= int(cores)) { // messages take the cores that would compute meanwhile
        for (const Constant exposed : kExposedShares)
            constants.set(exposed, 1);
    }
    if (share > 1) { // shared cores also move the data and run the host's code
        cluster.intra_node.bandwidth_gb_s /= share;
        cluster.intra_node.latency_us *= share;
        cluster.intra_node.hop_us *= share;
        for (const Constant fixed : kFixedCosts)
            constants.set(fixed, constants[fixed] * share);
    }

    set_groups(plan);
}

void CostContext::set_narrow(const Training& training)
{
    const auto over_bf16 = [&](Precision precision) {
        return cluster.gpu.bf16_tflops ? cluster.gpu.peak_flops(precision) / cluster.gpu.peak_flops(Precision::bf16)
                                       : 1;
    };
    fp8_ratio = over_bf16(Precision::fp8);
    narrow_ratio = over_bf16(training.precision);
    narrow_bytes = bytes_per_element(training.precision);
    narrow_share = recipe_share(training.fp8_recipe, constants);
    if (training.precision == Precision::nvfp4) // of what its peak promises as much as fp8 was measured to keep
        narrow_share = fp8_ratio > 1 ? (narrow_ratio - 1) / (fp8_ratio - 1) : 0;
}

void CostContext::set_place(GroupKind group, GroupSpan span, const std::vector<int>& ranks, const ResolvedPlan& plan)
{
    if (cluster.intra_node.topology == IntraTopology::torus) {
        std::vector<int> on_first;
        std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(on_first),
            [&](int rank) { return rank < cluster.gpus_per_node; });
        span.torus = group_axes(
            on_first, torus_slice(cluster.intra_node.torus, std::min(plan.layout.gpus(), cluster.gpus_per_node)));
    }
    set_span(group, span);
}

void CostContext::set_groups(const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    const int node = cluster.gpus_per_node;
    tp = layout.tp;
    cp = layout.cp;
    const bool torus = cluster.intra_node.topology == IntraTopology::torus;
    const auto set = [&](GroupKind group, const std::vector<Dimension>& dimensions) {
        GroupSpan span = fourfold::span(layout, dimensions, node);
        if (cluster.rack.nodes > 0 && span.crosses_nodes())
            span.racks = fourfold::span(layout, dimensions, node * cluster.rack.nodes).nodes;
        if (torus)
            set_place(group, span, layout.group(0, dimensions), plan);
        else
            set_span(group, span);
    };
    set(GroupKind::tp, {Dimension::tp});
    set(GroupKind::cp, {Dimension::cp});
    set(GroupKind::pp, {Dimension::pp});
    set(GroupKind::dp, {Dimension::dp});
    if (layout.cp > 1)
        set(GroupKind::dp_cp, {Dimension::dp, Dimension::cp});
    else
        set_span(GroupKind::dp_cp, span(GroupKind::dp));
    set(GroupKind::tp_pp, {Dimension::tp, Dimension::pp});
    // Looked up only by stacks whose operations take them: a search sets the groups of every mesh.
    if (constants[Constant::step_scalars] > 0)
        set(GroupKind::world, {Dimension::tp, Dimension::cp, Dimension::pp, Dimension::dp});
    if (key_copies(plan) > 1 && constants[Constant::shared_gradient_sums] > 0)
        set_ranks({GroupKind::tp_keys}, plan);
    set_shard_groups(plan);
    if (plan.model.experts)
        set_ranks({GroupKind::ep, GroupKind::expert_dp}, plan);
}

void CostContext::set_shard_groups(const ResolvedPlan& plan)
{
    if (plan.training.sharding == Sharding::hybrid)
        set_ranks({GroupKind::dp_shard, GroupKind::dp_replicate}, plan);
}

void CostContext::set_ranks(std::initializer_list<GroupKind> groups, const ResolvedPlan& plan)
{
    const DeviceMesh mesh(plan.layout, plan.model.kv_heads);
    for (const GroupKind group : groups) {
        const std::vector<int> ranks = mesh.group(0, group);
        set_place(group, span_of(ranks, cluster.gpus_per_node), ranks, plan);
    }
}

} // namespace fourfold
