// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/interval.h"
#include "core/plan/plan_constants.h"

#include "core/cost/context.h"
#include "core/model/flops.h"
#include "core/stack/constants.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace fourfold {
namespace {

constexpr int kManyGpus = 256; // pipelines on this many GPUs and more were hardly ever measured
constexpr double kNearFull = 0.95; // of the GPU's memory
constexpr int kFarBeyond = 4; // times the largest measured job, or a model's size: scaling has become a guess
constexpr double kOtherLink = 2; // times slower or faster than measured ones: another network

Range around(double value, double half_width)
{
    return {value * std::exp(-half_width), value * std::exp(half_width)};
}

const MeasuredDomain* domain_of(const ResolvedPlan& plan)
{
    const auto found = plan.stack.measured.find(plan.cluster.gpu.id);
    return found == plan.stack.measured.end() ? nullptr : &found->second;
}

bool was_measured(Regime regime, const ResolvedPlan& plan)
{
    const MeasuredDomain* domain = domain_of(plan);
    if (domain == nullptr || !domain->regimes.contains(regime))
        return false;
    return regime != Regime::pipeline_on_hundreds || plan.gpus <= domain->pipeline_gpus;
}

// Without measurements of these even the size of the error is unknown; the others are variations of known work.
bool leaves_no_interval(Regime regime)
{
    return regime != Regime::experts && regime != Regime::fp8 && regime != Regime::nvfp4;
}

bool kernel_measured(const ResolvedPlan& plan)
{
    return plan.stack.measured_with(plan.cluster.gpu.id, plan.training.attention);
}

// Did the software run on a GPU of this generation? What it makes of the chip is known then.
bool generation_measured(const ResolvedPlan& plan)
{
    const std::string& generation = plan.cluster.gpu.generation;
    return !generation.empty() && std::ranges::any_of(plan.stack.measured, [&](const auto& measured) {
        return measured.second.generation == generation;
    });
}

// Where its measurements were made: of its release, on this cluster or on one that the user's own constants were fitted
// on.
bool measured_here(const ResolvedPlan& plan)
{
    if (!plan.stack.release_measured(plan.cluster.gpu.id))
        return false;
    const MeasuredDomain* domain = domain_of(plan);
    const bool users_own = plan.stack.base && plan.stack.calibrated_for(plan.cluster.gpu.id);
    if (users_own || (plan.cluster.calibration && plan.cluster.calibration->stack == plan.stack.id))
        return true;
    return domain != nullptr && (domain->clusters.empty() || domain->clusters.contains(plan.cluster.id));
}

std::string software_and_gpu(const ResolvedPlan& plan)
{
    return "stack " + plan.stack.written() + " on " + plan.cluster.gpu.name;
}

// Of a plan's release that is not known, or that was not measured on its GPU, what stands in for it; empty of others.
std::string release_stand_in(const ResolvedPlan& plan)
{
    const Stack& stack = plan.stack;
    const std::string& gpu = plan.cluster.gpu.id;
    if (std::string unknown = stack.unknown_release(); !unknown.empty())
        return unknown;
    if (stack.release_measured(gpu) || !stack.calibrated_for(gpu))
        return "";
    return "release " + stack.release + " of stack " + stack.id + " was not measured on " + plan.cluster.gpu.name
        + ": predicted as the releases that were";
}

std::string span_text(const MeasuredSpan& span)
{
    return span.low == span.high ? text_of("%.4g", span.high) : text_of("%.4g to %.4g", span.low, span.high);
}

// ln of the factors by which the plan lies beyond what was measured: job, model, sequence, links.
double beyond_measured(const ResolvedPlan& plan, const MeasuredDomain& domain)
{
    double sum = MeasuredSpan{1, double(domain.gpus)}.beyond(plan.gpus)
        + domain.parameters_b.beyond(plan.model.parameters() / 1e9) + domain.seq_len.beyond(plan.training.seq_len);
    const bool fitted_here = plan.cluster.calibration && plan.cluster.calibration->stack == plan.stack.id;
    if (!fitted_here && plan.gpus > 1 && plan.cluster.gpus_per_node > 1)
        sum += domain.intra_node_gb_s.beyond(plan.cluster.intra_node.link_gb_s());
    if (!fitted_here && plan.gpus > plan.cluster.gpus_per_node)
        sum += domain.inter_node_gb_s.beyond(plan.cluster.inter_node.bandwidth_gb_s);
    return sum;
}

// What of the plan lies far from all measured jobs, each in a line: its size, its links and its model. Links of a
// cluster whose own constants were fitted are measured.
std::vector<std::string> far_from_measured(const ResolvedPlan& plan)
{
    const MeasuredDomain* domain = domain_of(plan);
    std::vector<std::string> far;
    if (domain == nullptr)
        return far;
    if (domain->gpus > 0 && plan.gpus > kFarBeyond * domain->gpus)
        far.push_back(std::to_string(plan.gpus) + " GPUs: the largest measured job of " + software_and_gpu(plan)
            + " had " + std::to_string(domain->gpus));
    const bool fitted_here = plan.cluster.calibration && plan.cluster.calibration->stack == plan.stack.id;
    const auto links = [&](const char* where, double gb_s, const MeasuredSpan& span) {
        if (!fitted_here && span.is_far(gb_s, kOtherLink))
            far.push_back(text_of("links of %.4g GB/s %s: those measured with %s had %s GB/s", gb_s, where,
                software_and_gpu(plan).c_str(), span_text(span).c_str()));
    };
    if (plan.gpus > 1 && plan.cluster.gpus_per_node > 1)
        links("within a node", plan.cluster.intra_node.link_gb_s(), domain->intra_node_gb_s);
    if (plan.gpus > plan.cluster.gpus_per_node)
        links("between nodes", plan.cluster.inter_node.bandwidth_gb_s, domain->inter_node_gb_s);
    const double parameters_b = plan.model.parameters() / 1e9;
    if (domain->parameters_b.is_far(parameters_b, kFarBeyond))
        far.push_back(text_of("a model of %.3g billion parameters: those measured with %s had %s billion", parameters_b,
            software_and_gpu(plan).c_str(), span_text(domain->parameters_b).c_str()));
    return far;
}

std::string subject(Regime regime, const ResolvedPlan& plan, double memory_share)
{
    switch (regime) {
    case Regime::cp_across_nodes:
        return "context parallelism crosses nodes";
    case Regime::cp_and_pp_beyond_node:
        return "context and pipeline parallelism together beyond a node";
    case Regime::near_full_memory:
        return text_of("%.0f %% of the GPU's memory", memory_share * 100);
    case Regime::pipeline_on_hundreds:
        return "pipeline parallelism on " + std::to_string(plan.gpus) + " GPUs";
    case Regime::experts:
        return "a mixture of experts";
    case Regime::fp8:
        return "fp8";
    case Regime::nvfp4:
        return "nvfp4";
    case Regime::offload:
        break;
    }
    return "offload to host memory";
}

std::string warning(Regime regime, const ResolvedPlan& plan, double memory_share)
{
    const std::string start = subject(regime, plan, memory_share);
    if (!was_measured(regime, plan))
        return start + ": no measurements of it with " + software_and_gpu(plan)
            + (leaves_no_interval(regime) ? ", so there is no interval" : "");
    switch (regime) {
    case Regime::cp_across_nodes:
        return start + ": few measurements, and the network decides";
    case Regime::near_full_memory:
        return start + ": runs this close to the limit often fail or slow down";
    default:
        return start + ": few measurements, and they scatter";
    }
}

// Measured regimes whose runs behave like all others.
bool goes_without_saying(Regime regime, const ResolvedPlan& plan)
{
    return !leaves_no_interval(regime) && was_measured(regime, plan);
}

} // namespace

Band band_of(int gpus)
{
    constexpr int kNode = 8, kTens = 64;
    return gpus <= kNode ? Band::node : gpus <= kTens ? Band::tens : Band::hundreds;
}

std::vector<Regime> regimes_of(const ResolvedPlan& plan, double memory_share)
{
    const Layout& layout = plan.layout;
    std::vector<Regime> regimes;
    if (layout.cp > 1 && span(layout, {Dimension::cp}, plan.cluster.gpus_per_node).crosses_nodes())
        regimes.push_back(Regime::cp_across_nodes);
    if (layout.cp > 1 && layout.pp > 1 && layout.tp * layout.cp * layout.pp > plan.cluster.gpus_per_node)
        regimes.push_back(Regime::cp_and_pp_beyond_node);
    if (memory_share > kNearFull && memory_share <= 1)
        regimes.push_back(Regime::near_full_memory);
    if (layout.pp > 1 && plan.gpus >= kManyGpus)
        regimes.push_back(Regime::pipeline_on_hundreds);
    if (plan.model.experts)
        regimes.push_back(Regime::experts);
    if (plan.training.precision == Precision::fp8)
        regimes.push_back(Regime::fp8);
    if (plan.training.precision == Precision::nvfp4)
        regimes.push_back(Regime::nvfp4);
    if (plan.training.offload != Offload::none)
        regimes.push_back(Regime::offload);
    return regimes;
}

Evidence evidence_for(const ResolvedPlan& plan, double memory_share)
{
    if (!plan.stack.calibrated_for(plan.cluster.gpu.id) || !plan.stack.release_measured(plan.cluster.gpu.id)
        || !kernel_measured(plan) || !far_from_measured(plan).empty())
        return Evidence::extrapolated;
    const auto regimes = regimes_of(plan, memory_share);
    const bool all_measured
        = std::all_of(regimes.begin(), regimes.end(), [&](Regime regime) { return was_measured(regime, plan); });
    return all_measured ? Evidence::calibrated : Evidence::extrapolated;
}

double time_half_width(const ResolvedPlan& plan)
{
    const Constants constants = constants_of(plan);
    const std::array bands{Constant::interval_node, Constant::interval_tens, Constant::interval_hundreds};
    double squares = 0;
    const auto add = [&](Constant constant, double times = 1) {
        const double width = constants[constant] * times;
        squares += width * width;
    };
    add(bands[static_cast<std::size_t>(band_of(plan.gpus))]);
    const MeasuredDomain* domain = domain_of(plan);
    if (plan.stack.measured.empty() && !plan.stack.calibrated_for(plan.cluster.gpu.id))
        add(Constant::interval_unmeasured);
    else if (!measured_here(plan))
        add(Constant::interval_elsewhere);
    if (!plan.stack.measured.empty() && !plan.stack.calibrated_for(plan.cluster.gpu.id) && !generation_measured(plan))
        add(Constant::interval_gpu);
    const bool new_products = plan.training.precision == Precision::nvfp4 && !was_measured(Regime::nvfp4, plan);
    if (domain != nullptr && (new_products || !kernel_measured(plan)))
        add(Constant::interval_kernel);
    if (plan.model.experts)
        add(Constant::interval_experts);
    if (domain != nullptr)
        add(Constant::interval_distance, beyond_measured(plan, *domain));
    return std::sqrt(squares);
}

double share_beyond_scatter(double squares)
{
    constexpr double kThreshold = 2, kWhole = 0.95;
    const double share = squares < kThreshold ? 0 : 1 - 1 / squares;
    return share > kWhole ? 1 : share;
}

bool memory_was_measured(const ResolvedPlan& plan)
{
    const auto own = plan.stack.gpu_constants.find(plan.cluster.gpu.id);
    return own != plan.stack.gpu_constants.end()
        && own->second.contains(std::string(info(Constant::interval_memory).name));
}

double memory_half_width(const ResolvedPlan& plan)
{
    const Constants constants = constants_of(plan);
    const double width = constants[Constant::interval_memory];
    return memory_was_measured(plan) ? width : added_in_squares(width, constants[Constant::interval_memory_unmeasured]);
}

double unmeasured_deviation(const ResolvedPlan& plan, double memory_share)
{
    constexpr double kEach = 0.15; // nobody has measured how wrong the model is there
    double squares = 0;
    for (const Regime regime : regimes_of(plan, memory_share)) {
        if (leaves_no_interval(regime) && !was_measured(regime, plan))
            squares += kEach * kEach;
    }
    return std::sqrt(squares);
}

bool is_plausible(const Prediction& prediction)
{
    const ResolvedPlan& plan = prediction.plan;
    // Of the precision of the plan's products: what is printed as MFU leaves 8 and 4 bits out.
    const double most = kMostUtilisation * plan.cluster.gpu.peak_flops(plan.training.precision);
    return !prediction.at_least
        && prediction.tps_per_gpu.value_or(0) * model_flops_per_token(plan.model, plan.training.seq_len, true) <= most;
}

void add_confidence(Prediction& prediction)
{
    const ResolvedPlan& plan = prediction.plan;
    const double share = prediction.memory_device_gib && prediction.memory_capacity_gib > 0
        ? *prediction.memory_device_gib / prediction.memory_capacity_gib
        : 0;
    prediction.evidence = is_plausible(prediction) ? evidence_for(plan, share) : Evidence::extrapolated;
    for (std::string& text : regime_warnings(plan, share))
        prediction.warnings.push_back(std::move(text));
    if (!memory_was_measured(plan))
        prediction.warnings.push_back(
            "no measurements of memory with " + software_and_gpu(plan) + ": its range is an estimate");
    const auto regimes = regimes_of(plan, share);
    const bool unknown = std::any_of(regimes.begin(), regimes.end(),
        [&](Regime regime) { return leaves_no_interval(regime) && !was_measured(regime, plan); });
    if (unknown || !prediction.step_time_s || !prediction.tps_per_gpu || !prediction.memory_gib)
        return;
    const double time = time_half_width(plan);
    Interval interval;
    interval.step_time_s = around(*prediction.step_time_s, time);
    interval.tps_per_gpu = around(*prediction.tps_per_gpu, time);
    if (const double least = prediction.least.step_s; interval.step_time_s.low < least) {
        interval.tps_per_gpu.high = *prediction.tps_per_gpu * *prediction.step_time_s / least;
        interval.step_time_s.low = least;
    }
    interval.memory_gib = around(*prediction.memory_gib, memory_half_width(plan));
    prediction.interval = interval;
}

std::vector<std::string> regime_warnings(const ResolvedPlan& plan, double memory_share)
{
    std::vector<std::string> warnings;
    if (!plan.stack.calibrated_for(plan.cluster.gpu.id))
        warnings.push_back("no measurements of " + software_and_gpu(plan) + ": its constants are estimates");
    else
        warnings = far_from_measured(plan);
    if (std::string stand_in = release_stand_in(plan); !stand_in.empty())
        warnings.push_back(std::move(stand_in));
    if (!kernel_measured(plan))
        warnings.push_back("no measurements of attention kernel " + to_text(plan.training.attention) + " with "
            + software_and_gpu(plan) + ": its rates are those of the nearest that was measured");
    for (const Regime regime : regimes_of(plan, memory_share)) {
        if (!goes_without_saying(regime, plan))
            warnings.push_back(warning(regime, plan, memory_share));
    }
    if (plan.training.ramp_up)
        warnings.emplace_back("the batch ramps up: this prediction holds for the full global batch");
    return warnings;
}

} // namespace fourfold
