// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold compare`: plans and stored runs side by side, as the desktop's Compare page.
#include "app/cli/history/history_view.h"
#include "core/calibration/user/evidence.h"
#include "core/predict/prediction.h"

#include <algorithm>
#include <iostream>
#include <memory>

namespace fourfold::cli {

namespace {

struct CompareOptions {
    std::vector<std::string> plans, runs;
    FormatOptions format;
    bool differences = false;
};

// A plan or a run by the figures that both have.
std::vector<Cell> row_of(
    const std::string& name, const std::string& kind, const ResolvedPlan& plan, const RunSummary* run)
{
    const Prediction prediction = predict_with_evidence(plan);
    const Layout& layout = plan.layout;
    const Training& training = plan.training;
    std::vector<Cell> row{name, kind, plan.model.name, plan.cluster.name, std::int64_t{plan.gpus}, plan.stack.id,
        std::int64_t{layout.tp}, std::int64_t{layout.cp}, std::int64_t{layout.pp}, std::int64_t{layout.dp},
        std::int64_t{layout.ep}, std::int64_t{layout.virtual_stages}, std::int64_t{training.micro_batch},
        std::int64_t{training.global_batch}, std::int64_t{training.seq_len}, to_text(training.schedule),
        to_text(training.sharding), to_text(training.recompute), to_text(training.precision),
        cell(prediction.tps_per_gpu), cell(prediction.step_time_s), cell(prediction.mfu),
        cell(prediction.tflops_per_gpu), prediction.bubble_fraction, cell(prediction.memory_gib),
        cell(prediction.memory_device_gib), std::string(fourfold::name(prediction.fit))};
    const auto end = [&](Range Interval::*figure, double Range::*side) {
        row.push_back(prediction.interval ? Cell((*prediction.interval).*figure.*side) : Cell());
    };
    end(&Interval::tps_per_gpu, &Range::low);
    end(&Interval::tps_per_gpu, &Range::high);
    end(&Interval::memory_gib, &Range::low);
    end(&Interval::memory_gib, &Range::high);
    row.emplace_back(std::string(fourfold::name(prediction.evidence)));
    for (int part = 0; part < kParts; ++part)
        row.emplace_back(prediction.time_by_part[static_cast<Part>(part)]);
    const auto measured
        = [&](std::optional<double> RunSummary::*figure) { row.push_back(run ? cell(run->*figure) : Cell()); };
    measured(&RunSummary::measured_tps_per_gpu);
    measured(&RunSummary::measured_step_time_s);
    measured(&RunSummary::measured_memory_gib);
    measured(&RunSummary::last_loss);
    return row;
}

std::vector<Column> columns()
{
    std::vector<Column> out{{"name", "name"}, {"kind", "kind"}, {"model", "model"}, {"cluster", "cluster"},
        {"gpus", "GPUs"}, {"stack", "stack"}, {"tp", "TP"}, {"cp", "CP"}, {"pp", "PP"}, {"dp", "DP"}, {"ep", "EP"},
        {"virtual_stages", "virtual stages"}, {"micro_batch", "micro-batch"}, {"global_batch", "global batch"},
        {"seq_len", "sequence"}, {"schedule", "schedule"}, {"sharding", "sharding"}, {"recompute", "recompute"},
        {"precision", "precision"}, {"predicted_tps_per_gpu", "predicted TPS/GPU", 1},
        {"predicted_step_time_s", "predicted step (s)", 4}, {"mfu", "MFU", 1, 100, " %"},
        {"tflops_per_gpu", "TFLOP/s per GPU", 1}, {"bubble_fraction", "bubble", 1, 100, " %"},
        {"predicted_memory_gib", "predicted GiB", 2}, {"memory_device_gib", "on the device GiB", 2}, {"fit", "fit"},
        {"tps_low", "90 % from, TPS/GPU", 1}, {"tps_high", "to, TPS/GPU", 1}, {"memory_low_gib", "90 % from, GiB", 2},
        {"memory_high_gib", "to, GiB", 2}, {"evidence", "evidence"}};
    for (int part = 0; part < kParts; ++part) {
        const std::string name(fourfold::name(static_cast<Part>(part)));
        out.push_back({name + "_s", name + " (s)", 4});
    }
    out.insert(out.end(),
        {{"measured_tps_per_gpu", "measured TPS/GPU", 1}, {"measured_step_time_s", "measured step (s)", 4},
            {"measured_memory_gib", "measured GiB", 2}, {"loss", "loss", 4}});
    return out;
}

Expected<Table> compared(const CompareOptions& options)
{
    const Presets presets;
    Table table;
    table.columns = columns();
    for (const std::string& name : options.plans) {
        PlanOptions source;
        source.plan = name;
        FOURFOLD_TRY(const ResolvedPlan plan, source.load_sound(presets));
        table.rows.push_back(row_of(name, "plan", plan, nullptr));
    }
    if (!options.runs.empty()) {
        FOURFOLD_TRY(const HistoryStore store, open_history_with_runs());
        for (const std::string& id : options.runs) {
            FOURFOLD_TRY(const RunDetail run, store.show(id));
            FOURFOLD_TRY(const Plan stored, plan_from_json(run.plan, "run " + run.summary.id));
            FOURFOLD_TRY(const ResolvedPlan plan, resolve(stored, presets)); // the stack's constants are the preset's
            table.rows.push_back(row_of(run.summary.id, "run", plan, &run.summary));
        }
    }
    return table;
}

// One column per entry, one row per figure: what a person reads. Figures that no entry has are left out.
Table side_by_side(const Table& table, bool differences)
{
    Table out;
    out.columns = {{"differs", " "}, {"figure", "figure"}};
    for (const std::vector<Cell>& row : table.rows)
        out.columns.push_back({std::get<std::string>(row.front())});
    for (std::size_t column = 1; column < table.columns.size(); ++column) {
        std::vector<Cell> line;
        bool differs = false, known = false;
        for (const std::vector<Cell>& row : table.rows) {
            line.emplace_back(shown(row[column], table.columns[column]));
            differs = differs || row[column] != table.rows.front()[column];
            known = known || !std::holds_alternative<std::monostate>(row[column]);
        }
        if (!known || (differences && !differs))
            continue;
        line.insert(line.begin(), {differs ? "*" : "", table.columns[column].title});
        out.rows.push_back(std::move(line));
    }
    return out;
}

Expected<int> run_compare(const CompareOptions& options)
{
    FOURFOLD_TRY(const auto format, options.format.format());
    if (options.plans.size() + options.runs.size() < 2)
        return fail({ProblemCode::bad_input, "one entry cannot be compared", "name two or more plans or runs", ""});
    FOURFOLD_TRY(const auto table, compared(options));
    std::cout << (format == TableFormat::text ? side_by_side(table, options.differences) : table).write(format);
    return kDone;
}

} // namespace

void add_compare(Cli& cli)
{
    auto* command = cli.app.add_subcommand("compare", "Plans and stored runs side by side");
    const auto options = std::make_shared<CompareOptions>();
    command->add_option("PLAN", options->plans, "plan files, or ids of plan presets");
    command->add_option("--run", options->runs, "a stored run by its id or the beginning of it; may be repeated")
        ->type_name("ID")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command->add_flag("--differences", options->differences, "in the text form: only what differs");
    options->format.add_to(*command);
    command->callback([&cli, options] { cli.chosen = [options] { return run_compare(*options); }; });
}

} // namespace fourfold::cli
