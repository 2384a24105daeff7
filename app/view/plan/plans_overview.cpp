// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/plan/plans_overview.h"

#include "app/view/answer.h"
#include "app/view/plan/facts.h"
#include "app/view/text.h"
#include "core/base/text.h"
#include "core/search/edits.h"

#include <algorithm>

namespace fourfold::view {

namespace {
std::string called(const std::string& name, const std::string& otherwise)
{
    return name.empty() ? otherwise : name;
}

PlanLine line_of(const OpenPlan& open, const ResolvedPlan* shown)
{
    PlanLine line;
    line.name = open.title + (open.is_unsaved ? " \u2022" : "");
    if (!open.plan) {
        line.verdict = "Not valid.";
        line.tone = Tone::bad;
        return line;
    }
    line.model = called(open.plan->model.name, open.plan->model.model_type);
    line.gpus = open.plan->gpus;
    line.layout = layout_line(open.plan->layout);
    if (open.is_current)
        line.differs = "on show";
    else if (shown)
        line.differs = called(plan_differences(*shown, *open.plan), "the same settings");
    if (open.prediction) {
        const Verdict verdict = verdict_of(*open.prediction);
        line.verdict = verdict.word + " " + verdict.rest;
        line.tone = verdict.tone;
        if (open.prediction->tps_per_gpu)
            line.throughput = throughput_text(*open.prediction->tps_per_gpu);
        if (open.prediction->memory_device_gib)
            line.memory = gib(*open.prediction->memory_device_gib);
    } else if (!open.is_valid) {
        const Verdict verdict = invalid_verdict(open.broken_fields);
        line.verdict = verdict.word + " " + verdict.rest;
        line.tone = verdict.tone;
    } else {
        line.verdict = "Predicting...";
    }
    return line;
}
} // namespace

OpenPlan open_plan(const PlanState& state)
{
    OpenPlan plan;
    plan.title = state.title();
    plan.plan = state.last_resolved() ? &*state.last_resolved() : nullptr;
    plan.broken_fields = state.broken_rules().size();
    plan.is_valid = state.is_valid();
    return plan;
}

std::string plan_differences(const ResolvedPlan& from, const ResolvedPlan& to)
{
    std::vector<std::string> parts;
    const auto add = [&](const char* what, const std::string& before, const std::string& after) {
        if (before != after)
            parts.push_back(std::string(what) + " " + after);
    };
    add("model", called(from.model.name, from.model.model_type), called(to.model.name, to.model.model_type));
    add("cluster", called(from.cluster.name, "its own"), called(to.cluster.name, "its own"));
    add("stack", from.stack.written(), to.stack.written());
    if (const std::string settings = edit_summary(from, to); !settings.empty())
        parts.push_back(settings);
    return joined(parts, ", ");
}

std::vector<PlanLine> plans_overview(const std::vector<OpenPlan>& plans)
{
    const auto current = std::ranges::find_if(plans, &OpenPlan::is_current);
    const ResolvedPlan* shown = current == plans.end() ? nullptr : current->plan;
    std::vector<PlanLine> lines;
    for (const OpenPlan& open : plans)
        lines.push_back(line_of(open, shown));
    return lines;
}

Table plans_table(const std::vector<PlanLine>& lines)
{
    Table table;
    table.columns = {{"plan", "plan"}, {"verdict", "verdict"}, {"differs", "differs from the one on show"},
        {"tps_per_gpu", "tokens/s per GPU"}, {"memory_device_gib", "device GiB"}, {"model", "model"}, {"gpus", "GPUs"},
        {"layout", "layout"}};
    for (const PlanLine& line : lines)
        table.rows.push_back({line.name, line.verdict, line.differs, line.throughput, line.memory, line.model,
            line.gpus > 0 ? Cell(std::int64_t(line.gpus)) : Cell(), line.layout});
    return table;
}

} // namespace fourfold::view
