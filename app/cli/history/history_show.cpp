// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/history/history_view.h"
#include "core/base/text.h"
#include "core/predict/term_off.h"

#include <iostream>

namespace fourfold::cli {

namespace {

std::string loss_text(const RunSummary& run)
{
    const auto value = [](const std::optional<double>& loss) { return loss ? shown_number(*loss, 4) : "-"; };
    if (!run.first_loss && !run.last_loss && !run.eval_loss)
        return "";
    return "first " + value(run.first_loss) + ", last " + value(run.last_loss) + ", held out " + value(run.eval_loss);
}

// "fourfold 0.1.0, libtorch 2.11.0"; nested parts in compact JSON, what is not known left out.
std::string pairs_text(const Json& object)
{
    std::vector<std::string> parts;
    for (const auto& [key, value] : object.items()) {
        if (value.is_null())
            continue;
        const std::string text = value.is_string() ? value.get<std::string>()
            : value.is_number_float()              ? shown_number(value.get<double>(), -4)
                                                   : compact(value);
        parts.push_back(key + " " + text);
    }
    return joined(parts, ", ");
}

void line(std::string& out, const std::string& name, const std::string& text)
{
    if (!text.empty())
        out += "  " + name + std::string(11 - std::min<std::size_t>(10, name.size()), ' ')
            + Problem{ProblemCode::failed, text, "", ""}.line() + "\n";
}

Cell relative(const std::optional<double>& predicted, const std::optional<double>& measured)
{
    if (!predicted || !measured || *measured == 0)
        return {};
    return *predicted / *measured - 1;
}

} // namespace

Table comparison_table(const RunSummary& run)
{
    Table table;
    table.columns = {{"quantity", " "}, {"unit", "unit"}, {"predicted", "predicted", -4}, {"measured", "measured", -4},
        {"error", "error", 1, 100, " %"}};
    const auto add = [&](const char* quantity, const char* unit, const std::optional<double>& predicted,
                         const std::optional<double>& measured) {
        table.rows.push_back({quantity, unit, cell(predicted), cell(measured), relative(predicted, measured)});
    };
    add("throughput", "TPS/GPU", run.predicted_tps_per_gpu, run.measured_tps_per_gpu);
    add("step time", "s", run.predicted_step_time_s, run.measured_step_time_s);
    add("memory", "GiB", run.predicted_memory_gib, run.measured_memory_gib);
    return table;
}

std::string run_text(const RunDetail& detail)
{
    const RunSummary& run = detail.summary;
    std::string out = run.id + "  " + std::string(name(run.state)) + "  " + printable(run.name) + "\n";
    line(out, "created", run.created);
    line(out, "model", run.model);
    line(out, "cluster", run.cluster + ", " + std::to_string(run.gpus) + (run.gpus == 1 ? " GPU" : " GPUs"));
    line(out, "layout", run.layout);
    line(out, "stack", run.stack + ", target " + run.target);
    line(out, "hosts", joined(detail.hosts, ", "));
    out += "\n" + indented(comparison_table(run).write(TableFormat::text)) + "\n";
    if (!detail.headline_rule.empty())
        line(out, "measured",
            detail.headline_rule
                + (detail.tps_spread ? ", spread (p90 - p10) " + shown_number(100 * *detail.tps_spread, 1) + " %"
                                     : ""));
    if (detail.allocated_gib && detail.reserved_gib)
        line(out, "memory",
            shown_number(*detail.allocated_gib, 2) + " GiB allocated, " + shown_number(*detail.reserved_gib, 2)
                + " GiB reserved");
    if (detail.planned_prediction && detail.planned_prediction->is_object()) {
        const auto tps = detail.planned_prediction->find("tps_per_gpu");
        if (tps != detail.planned_prediction->end() && tps->is_number())
            line(out, "planned",
                shown_number(tps->get<double>(), 1) + " TPS/GPU for the stack of the plan; ran with stack "
                    + run.stack);
    }
    if (const auto term = term_most_off(detail.plan, detail.other_events))
        line(out, "most off", term_off_text(*term) + " of a traced step, an average stage");
    line(out, "steps", std::to_string(run.steps));
    line(out, "loss", loss_text(run));
    for (const auto& [key, value] : detail.versions.items())
        if (key == "software" && value.is_object())
            line(out, "versions", pairs_text(value));
        else if (key == "hardware" && value.is_object())
            line(out, "hardware", pairs_text(value));
    if (detail.environment.is_object() && !detail.environment.empty())
        line(out, "variables", pairs_text(detail.environment));
    line(out, "problem", run.problem);
    line(out, "tags", joined(run.tags, ", "));
    line(out, "note", run.note);
    return out;
}

Json run_json(const RunDetail& detail)
{
    const auto term = term_most_off(detail.plan, detail.other_events);
    RunSummary summary = detail.summary; // a list may not have named the term yet
    summary.most_off = term ? std::optional(MostOff{term->term, term->predicted_s, term->measured_s}) : std::nullopt;
    Json out = summary_json(summary);
    out["headline_rule"] = detail.headline_rule;
    out["tps_spread"] = detail.tps_spread ? Json(*detail.tps_spread) : Json();
    out["memory_allocated_gib"] = number_or_null(detail.allocated_gib);
    out["memory_reserved_gib"] = number_or_null(detail.reserved_gib);
    out["term_most_off"] = term
        ? Json{{"term", term->term}, {"predicted_s", term->predicted_s}, {"measured_s", term->measured_s}}
        : Json();
    out["hosts"] = detail.hosts;
    out["environment"] = detail.environment;
    out["versions"] = detail.versions;
    out["plan"] = detail.plan;
    out["prediction"] = detail.prediction;
    out["planned_prediction"] = detail.planned_prediction ? *detail.planned_prediction : Json();
    Table steps;
    for (const char* key : {"step", "time_s", "loss", "grad_norm", "learning_rate", "step_time_s", "tps_per_gpu",
             "tflops_per_gpu", "mfu", "memory_peak_gib"})
        steps.columns.push_back({key});
    for (const StepRow& step : detail.steps)
        steps.rows.push_back({std::int64_t{step.step}, step.time_s, cell(step.loss), cell(step.grad_norm),
            cell(step.learning_rate), cell(step.step_time_s), cell(step.tps_per_gpu), cell(step.tflops_per_gpu),
            cell(step.mfu), cell(step.memory_peak_gib)});
    out["step_rows"] = steps.to_json();
    out["other_events"] = detail.other_events;
    return out;
}

Expected<int> show_run(TableFormat format, const std::string& id)
{
    FOURFOLD_TRY(const auto store, open_history_with_runs());
    FOURFOLD_TRY(const auto detail, store.show(id));
    if (format == TableFormat::text)
        std::cout << run_text(detail);
    else if (format == TableFormat::json)
        print_json(run_json(detail));
    else
        std::cout << comparison_table(detail.summary).write(format);
    return kDone;
}

} // namespace fourfold::cli
