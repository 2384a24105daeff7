// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/answer.h"

#include "app/view/text.h"
#include "core/report/views/nearest_row.h"

#include <algorithm>

namespace fourfold::view {

namespace {
std::string range_text(const Interval& interval, const std::string& low, const std::string& high)
{
    return percent(interval.confidence, 0) + " %: " + low + " to " + high;
}

Figure memory_figure(const Prediction& p)
{
    Figure figure = unknown_figure("Peak memory per GPU", "GiB");
    if (!p.memory_gib)
        return figure;
    figure.value = gib(*p.memory_gib);
    const double device = p.memory_device_gib.value_or(*p.memory_gib);
    if (p.memory_capacity_gib > 0) {
        figure.fraction = std::clamp(device / p.memory_capacity_gib, 0.0, 1.0);
        figure.basis = gib(device) + " of " + gib(p.memory_capacity_gib) + " usable ("
            + percent(device / p.memory_capacity_gib, 0) + " %)";
    }
    figure.detail = "The number is " + p.plan.stack.name
        + "'s own memory figure; reserved memory with context and communicators decides whether it fits";
    figure.tone = p.fit == Fit::fits ? Tone::neutral : p.fit == Fit::tight ? Tone::warning : Tone::bad;
    if (p.interval)
        figure.confidence = range_text(*p.interval, gib(p.interval->memory_gib.low), gib(p.interval->memory_gib.high));
    return figure;
}

Figure throughput_figure(const Prediction& p)
{
    Figure figure = unknown_throughput();
    if (!p.tps_per_gpu)
        return figure;
    figure.value = throughput_text(*p.tps_per_gpu);
    figure.basis = compact(*p.tps_per_gpu * p.plan.gpus) + "/s over " + counted(p.plan.gpus, "GPU");
    if (p.interval) {
        const Range& range = p.interval->tps_per_gpu;
        figure.confidence = range_text(*p.interval, throughput_text(range.low), throughput_text(range.high));
    }
    if (p.nearest)
        figure.detail = "Nearest measured: " + nearest_row_text(*p.nearest);
    return figure;
}

Figure utilisation_figure(const Prediction& p)
{
    Figure figure = unknown_figure("MFU", "%");
    const bool against_bf16 = !p.mfu && p.mfu_bf16_peak;
    const std::optional<double> mfu = p.mfu ? p.mfu : p.mfu_bf16_peak;
    if (!mfu)
        return figure;
    figure.value = percent(*mfu);
    figure.fraction = std::clamp(*mfu, 0.0, 1.0);
    const Precision against = against_bf16 ? Precision::bf16 : p.plan.training.precision;
    figure.basis = "of " + compact(p.plan.cluster.gpu.peak_flops(against) / 1e12) + " TFLOP/s "
        + upper_case(std::string(name(against))) + " peak";
    if (p.tflops_per_gpu) {
        figure.confidence = compact(*p.tflops_per_gpu) + " TFLOP/s as logged";
        figure.detail = "The stack's log counts FLOPs as " + std::string(name(p.plan.training.flop_convention))
            + "; MFU counts 6 N + attention";
        if (p.mfu_causal)
            figure.detail += " (" + percent(*p.mfu_causal) + " % with half of the attention, as causal masks leave)";
    }
    return figure;
}

Figure step_figure(const Prediction& p)
{
    Figure figure = unknown_figure("Step time");
    if (!p.step_time_s)
        return figure;
    figure.detail = "The constants behind it are " + evidence_text(p.evidence);
    if (p.least.step_s > 0) {
        static constexpr const char* limits[]{"compute", "memory", "links within a node", "the network"};
        figure.detail += "; the roofline, which no software beats, is " + duration(p.least.step_s) + " ("
            + limits[static_cast<int>(p.least.limit)] + ")";
        if (p.at_least)
            figure.detail += ", and that is the answer";
    }
    const Quantity parts = duration_parts(*p.step_time_s);
    figure.value = parts.value;
    figure.unit = parts.unit;
    figure.basis = "for " + compact(p.plan.tokens_per_step()) + " tokens";
    if (p.interval) {
        const Range& range = p.interval->step_time_s;
        figure.confidence = range_text(*p.interval, duration(range.low), duration(range.high));
    }
    return figure;
}

Figure bubble_figure(const Prediction& p)
{
    Figure figure = unknown_figure("Pipeline bubble", "%");
    if (!p.step_time_s)
        return figure;
    figure.value = percent(p.bubble_fraction);
    figure.fraction = std::clamp(p.bubble_fraction, 0.0, 1.0);
    figure.basis = p.plan.layout.pp == 1 ? "one stage never waits" : "of the pipelined part";
    figure.confidence = counted(p.plan.training.micro_batches, "micro-batch", "micro-batches") + " of "
        + grouped(p.plan.training.micro_batch);
    return figure;
}
} // namespace

Figure unknown_figure(const std::string& title, const std::string& unit, const std::string& short_unit)
{
    Figure figure;
    figure.title = title;
    figure.value = kUnknown;
    figure.unit = unit;
    figure.short_unit = short_unit;
    return figure;
}

Figure unknown_throughput()
{
    return unknown_figure("Throughput", "tokens/s per GPU", "TPS/GPU");
}

std::array<Figure, 5> answer_figures(const Prediction& prediction)
{
    return {memory_figure(prediction), throughput_figure(prediction), utilisation_figure(prediction),
        step_figure(prediction), bubble_figure(prediction)};
}

Verdict verdict_of(const Prediction& prediction)
{
    if (!prediction.memory_device_gib || prediction.memory_capacity_gib <= 0)
        return {"Fit unknown.", "The memory of this GPU is not known", Tone::warning};
    const double spare = prediction.memory_capacity_gib - *prediction.memory_device_gib;
    switch (prediction.fit) {
    case Fit::fits:
        return {"Fits.", gib(spare) + " GiB spare on the fullest GPU", Tone::good};
    case Fit::tight:
        return {"Tight.", "Only " + gib(std::max(0.0, spare)) + " GiB spare on the fullest GPU", Tone::warning};
    case Fit::no:
        break;
    }
    return {"Does not fit.", gib(std::max(0.0, -spare)) + " GiB too much on the fullest GPU", Tone::bad};
}

Verdict invalid_verdict(std::size_t fields)
{
    return {"Not valid.", fields == 0 ? "See the message below" : counted(double(fields), "field") + " marked in red",
        Tone::bad};
}

std::string warning_lines(const std::vector<std::string>& warnings)
{
    std::string lines;
    for (const std::string& warning : warnings)
        lines += "\nWarning: " + warning;
    return lines;
}

std::string evidence_text(Evidence evidence)
{
    switch (evidence) {
    case Evidence::measured:
        return "measured nearby";
    case Evidence::calibrated:
        return "calibrated on this hardware";
    case Evidence::extrapolated:
        return "extrapolated";
    }
    return {};
}

std::span<const PartWord> part_words()
{
    static constexpr PartWord words[]{{Part::compute, "Compute"}, {Part::recompute, "Recomputation"},
        {Part::bubble, "Pipeline bubble"}, {Part::tp, "TP collectives"}, {Part::cp, "CP exchange"},
        {Part::pp, "PP send / receive"}, {Part::dp, "DP collectives"}, {Part::ep, "EP all-to-all"},
        {Part::optimizer, "Optimizer"}, {Part::other, "Other"}};
    static_assert(std::size(words) == kParts);
    return words;
}

const char* part_label(Part part)
{
    const std::span<const PartWord> words = part_words();
    return std::find_if(words.begin(), words.end(), [part](const PartWord& at) { return at.part == part; })->label;
}

} // namespace fourfold::view
