// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/text/predict_text.h"

#include "core/base/text.h"
#include "core/predict/bounds.h"
#include "core/report/table/table.h"
#include "core/report/views/nearest_row.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace fourfold::cli {

namespace {

std::string gib(double value)
{
    return shown_number(value) + " GiB";
}

std::string percent(double fraction)
{
    return shown_number(100 * fraction, 1) + " %";
}

std::string range_text(const Range& range, const std::string& unit)
{
    return shown_number(range.low) + " .. " + shown_number(range.high) + unit;
}

// "1.45 trillion", "8.03 billion", "1.26 million".
std::string count_text(double count)
{
    if (count >= 1e12)
        return shown_number(count / 1e12, 2) + " trillion";
    if (count >= 1e9)
        return shown_number(count / 1e9, 2) + " billion";
    return count >= 1e6 ? shown_number(count / 1e6, 2) + " million" : shown_number(count, 0);
}

std::string headline_text(const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    const Training& training = plan.training;
    std::ostringstream out;
    out << printable(plan.name.empty() ? plan.model.name : plan.name) << "\n";
    out << "  model    " << printable(plan.model.name) << ", " << count_text(plan.model.parameters())
        << " parameters, vocabulary " << shown_number(static_cast<double>(plan.padded_vocab), 0) << "\n";
    out << "  cluster  " << printable(plan.cluster.name) << ", " << shown_number(plan.gpus, 0) << " x "
        << printable(plan.cluster.gpu.name) << " on " << shown_number(plan.nodes(), 0)
        << (plan.nodes() == 1 ? " node" : " nodes") << "; stack " << plan.stack.written() << "\n";
    out << "  layout   tp " << layout.tp << ", cp " << layout.cp << ", pp " << layout.pp << ", dp " << layout.dp;
    if (layout.ep > 1)
        out << ", ep " << layout.ep << ", etp " << layout.etp;
    if (layout.virtual_stages > 1)
        out << ", " << layout.virtual_stages << " virtual stages";
    out << "; schedule " << schedule_name(training) << ", sharding " << to_text(training.sharding) << ", recompute "
        << to_text(training.recompute) << ", " << to_text(training.precision) << "\n";
    out << "  batch    " << shown_number(training.global_batch, 0) << " sequences of "
        << shown_number(training.seq_len, 0) << " tokens = " << shown_number(plan.tokens_per_step(), 0)
        << " tokens per step; micro-batch " << training.micro_batch << ", " << shown_number(training.micro_batches, 0)
        << (training.micro_batches == 1 ? " micro-batch\n" : " micro-batches\n");
    return out.str();
}

std::string verdict_text(const Prediction& prediction)
{
    std::string out;
    switch (prediction.fit) {
    case Fit::fits:
        out = "FITS";
        break;
    case Fit::tight:
        out = "TIGHT";
        break;
    case Fit::no:
        out = "DOES NOT FIT";
        break;
    }
    if (!prediction.feasible && (prediction.fit != Fit::no || !prediction.memory_device_gib))
        out = "NOT FEASIBLE";
    if (prediction.memory_device_gib)
        out += "  " + gib(*prediction.memory_device_gib) + " of " + gib(prediction.memory_capacity_gib)
            + " per GPU, context and communicators included";
    out += "\n";
    for (const Reason& reason : prediction.reasons)
        out += "  reason: " + (reason.field.empty() ? "" : reason.field + ": ") + reason.message + "\n";
    return out;
}

std::string figures_text(const Prediction& prediction)
{
    Table table;
    table.columns = {{"figure", " "}, {"value", " "}, {"interval", " "}, {"basis", " "}};
    const auto& interval = prediction.interval;
    const ResolvedPlan& plan = prediction.plan;
    const auto add
        = [&](const std::string& name, const std::string& value, const std::string& range, const std::string& basis) {
              table.rows.push_back({"  " + name, value, range, basis});
          };
    if (prediction.tps_per_gpu)
        add("throughput", shown_number(*prediction.tps_per_gpu) + " tokens/s per GPU",
            interval ? range_text(interval->tps_per_gpu, "") : "",
            shown_number(*prediction.tps_per_gpu * plan.gpus) + " tokens/s on " + std::to_string(plan.gpus)
                + (plan.gpus == 1 ? " GPU" : " GPUs"));
    if (prediction.step_time_s)
        add("step time", duration_text(*prediction.step_time_s),
            interval ? range_text(interval->step_time_s, " s") : "",
            shown_number(plan.tokens_per_step(), 0) + " tokens per step");
    if (prediction.memory_gib)
        add("memory", gib(*prediction.memory_gib), interval ? range_text(interval->memory_gib, " GiB") : "",
            "largest stage, as the stack reports it");
    if (prediction.tflops_per_gpu)
        add("FLOP rate", shown_number(*prediction.tflops_per_gpu) + " TFLOP/s per GPU", "",
            "FLOPs counted as " + to_text(plan.training.flop_convention));
    const auto mfu = [&](const char* name, const std::optional<double>& value, Precision precision) {
        if (value)
            add(name, percent(*value), "",
                "of " + shown_number(plan.cluster.gpu.peak_flops(precision) / 1e12) + " TFLOP/s dense "
                    + to_text(precision) + " peak");
    };
    mfu("MFU", prediction.mfu, plan.training.precision);
    mfu("MFU (bf16 peak)", prediction.mfu_bf16_peak, Precision::bf16);
    if (table.rows.empty())
        return "";
    std::string text = table.write(TableFormat::text);
    text.erase(0, text.find('\n') + 1); // the title line is blank
    if (interval)
        text += "  ranges hold with " + shown_number(100 * interval->confidence, 0)
            + " % confidence; evidence: " + std::string(name(prediction.evidence)) + "\n";
    else if (prediction.step_time_s)
        text += "  no ranges: nothing like it was measured, see the warnings; evidence: "
            + std::string(name(prediction.evidence)) + "\n";
    if (const auto& nearest = prediction.nearest)
        text += "  nearest measured: " + nearest_row_text(*nearest) + "\n";
    return text;
}

std::string times_text(const Prediction& prediction)
{
    if (!prediction.step_time_s || *prediction.step_time_s <= 0)
        return "";
    Table table;
    table.columns = {{"part", "  time by part"}, {"seconds", "seconds", 4}, {"share", "share", 1, 100, " %"},
        {"hidden", "hidden", 4}, {"bar", ""}};
    table.columns.back().title = " ";
    for (int i = 0; i < kParts; ++i) {
        const auto part = static_cast<Part>(i);
        const double exposed = prediction.time_by_part[part], hidden = prediction.time_hidden[part];
        if (exposed == 0 && hidden == 0)
            continue;
        const double share = exposed / *prediction.step_time_s;
        const auto length = static_cast<std::size_t>(std::lround(40 * std::clamp(share, 0.0, 1.0)));
        table.rows.push_back({"  " + std::string(name(part)), exposed, share, hidden, std::string(length, '#')});
    }
    return "\n" + table.write(TableFormat::text);
}

// The links that the plan uses: is each bound by compute, and from which batch on?
std::string bounds_text(const ResolvedPlan& plan)
{
    const Bounds bounds = bounds_of(plan);
    Table table;
    table.columns = {{"parallelism", "  bound by"}, {"link", "over"}, {"compute", "compute"},
        {"communication", "moves"}, {"verdict", "a layer's forward"}, {"batch", "compute-bound from micro-batch"}};
    for (const LinkBound& link : bounds.links) {
        if (!link.used)
            continue;
        const auto least = link.bound.least_batch();
        const std::string from = !least ? "never" : *least <= 1 ? "any" : shown_number(std::ceil(*least), 0);
        table.rows.push_back({"  " + link.parallelism + " " + std::to_string(link.ranks),
            link.link == LinkKind::network ? "the network" : std::string(name(link.link)),
            duration_text(link.bound.compute_s(link.batch)), duration_text(link.bound.communication_s(link.batch)),
            link.compute_bound() ? "compute-bound" : "communication-bound", from});
    }
    std::string out = table.rows.empty() ? "" : "\n" + table.write(TableFormat::text);
    for (const CapacityLevel& level : bounds.levels) {
        if (!level.holds_model)
            continue;
        const std::string where = level.level == "gpu" ? "one GPU"
            : level.level == "node"                    ? "one node"
                                                       : "all GPUs of the job";
        out += "\n  weights, gradients and optimizer states fit on " + where + " (up to "
            + count_text(level.most_parameters) + " parameters, activations left out)\n";
        break;
    }
    return out;
}

std::string memory_text(const Prediction& prediction)
{
    if (prediction.memory_by_stage.empty())
        return "";
    double largest = 0;
    for (const StageMemory& stage : prediction.memory_by_stage)
        largest = std::max(largest, stage.total());
    const int digits = largest < 1 ? 4 : 2;
    Table table;
    table.columns = {{"stage", "  stage"}, {"weights", "weights", digits}, {"gradients", "gradients", digits},
        {"optimizer", "optimizer", digits}, {"activations", "activations", digits}, {"other", "other", digits},
        {"total", "total", digits}};
    for (const StageMemory& stage : prediction.memory_by_stage)
        table.rows.push_back({static_cast<std::int64_t>(stage.stage), stage.weights, stage.gradients, stage.optimizer,
            stage.activations, stage.other, stage.total()});
    return "\n  memory per GPU by stage (GiB)\n" + table.write(TableFormat::text);
}

} // namespace

std::string duration_text(double seconds)
{
    const double size = std::abs(seconds);
    if (size >= 0.1 || size == 0)
        return shown_number(seconds) + " s";
    return size >= 1e-3 ? shown_number(seconds * 1e3) + " ms" : shown_number(seconds * 1e6) + " us";
}

std::string predict_text(const Prediction& prediction)
{
    std::string out = headline_text(prediction.plan) + "\n" + verdict_text(prediction) + figures_text(prediction)
        + times_text(prediction) + memory_text(prediction);
    if (prediction.step_time_s)
        out += bounds_text(prediction.plan);
    if (!prediction.warnings.empty() || !prediction.plan.notes.empty())
        out += "\n";
    for (const std::string& note : prediction.plan.notes)
        out += "  note: " + note + "\n";
    for (const std::string& warning : prediction.warnings)
        if (std::find(prediction.plan.notes.begin(), prediction.plan.notes.end(), warning)
            == prediction.plan.notes.end())
            out += "  warning: " + warning + "\n";
    return out;
}

} // namespace fourfold::cli
