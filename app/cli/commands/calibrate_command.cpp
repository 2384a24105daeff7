// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold calibrate`: fits a stack or a cluster to measured runs and saves it as the user's own preset.
#include "app/cli/command.h"
#include "app/cli/history/history_view.h"
#include "core/base/text.h"
#include "core/calibration/user/calibrate.h"
#include "core/calibration/user/measured_rows.h"
#include "core/calibration/user/user_preset.h"

#include <iostream>
#include <iterator>
#include <map>
#include <memory>

namespace fourfold::cli {

namespace {

struct CalibrateOptions {
    std::string stack, cluster, output;
    std::vector<std::string> files, runs;
    bool history = false, dry_run = false, json = false;
    int threads = 0;
};

// Adds the usable rows of a table; its bad rows are warnings, the rest goes on.
Expected<void> add_table(const std::string& file, const TableSources& sources, const Presets& presets,
    const std::string& stack, MeasuredRows& rows)
{
    FOURFOLD_TRY(const MeasuredTable table, read_measured_table(file, sources, presets));
    for (const Problem& problem : table.problems)
        warn(problem.line());
    for (const std::string& remark : table.remarks)
        warn(remark);
    MeasuredRows read = table_rows(table);
    std::map<std::string, int> others; // rows by their stack
    for (const FitRow& row : read.rows)
        if (row.plan.stack.id != stack && (!row.plan.stack.base || row.plan.stack.base->id != stack))
            ++others[row.plan.stack.id];
    for (const auto& [other, count] : others)
        warn(file + ": " + std::to_string(count) + (count == 1 ? " row says" : " rows say") + " stack " + other
            + ", and counts for " + stack + " as well");
    std::move(read.rows.begin(), read.rows.end(), std::back_inserter(rows.rows));
    std::move(read.skipped.begin(), read.skipped.end(), std::back_inserter(rows.skipped));
    return {};
}

Expected<MeasuredRows> rows_of(const CalibrateOptions& options, const Presets& presets)
{
    MeasuredRows rows;
    if (options.history || !options.runs.empty()) {
        FOURFOLD_TRY(const HistoryStore store, open_history_with_runs());
        FOURFOLD_TRY(rows, history_rows(store, written_stack(options.stack).id, options.runs));
    }
    if (!options.files.empty()) {
        FOURFOLD_TRY(const TableSources sources, TableSources::find());
        for (const std::string& file : options.files)
            FOURFOLD_CHECK(add_table(file, sources, presets, written_stack(options.stack).id, rows));
    }
    return rows;
}

std::string source_of(const CalibrateOptions& options, std::size_t rows)
{
    std::vector<std::string> parts;
    for (const std::string& file : options.files)
        parts.push_back(std::filesystem::path(file).filename().string());
    if (options.history || !options.runs.empty())
        parts.emplace_back("the history");
    return std::to_string(rows) + (rows == 1 ? " row of " : " rows of ") + joined(parts, " and ");
}

Expected<void> run_calibrate(const CalibrateOptions& options)
{
    if (options.files.empty() && !options.history && options.runs.empty())
        return Problem{ProblemCode::bad_input, "nothing measured is named",
            "name measured tables (CSV), or --history for the stored runs", "arguments"};
    const Presets presets;
    FOURFOLD_CHECK(presets.stack(options.stack)); // before anything is read
    if (!options.cluster.empty())
        FOURFOLD_CHECK(presets.cluster(options.cluster));
    const auto cluster = options.cluster.empty() ? std::nullopt : std::optional(options.cluster);
    if (!options.dry_run)
        FOURFOLD_CHECK(check_preset_id(cluster, options.stack, options.output));
    FOURFOLD_TRY(MeasuredRows rows, rows_of(options, presets));
    for (const std::string& line : rows.skipped)
        warn(line);
    CalibrationRequest request;
    request.stack = options.stack;
    request.cluster = cluster;
    request.source = source_of(options, rows.rows.size());
    request.rows = std::move(rows.rows);
    request.threads = options.threads;
    FOURFOLD_TRY(const Calibration calibration, calibrate(presets, request));
    const std::string id = options.output.empty() ? default_preset_id(calibration) : options.output;
    std::string saved;
    if (!options.dry_run) {
        FOURFOLD_TRY(const auto file, save_preset(calibration, id, presets));
        saved = file.string();
    }
    if (options.json) {
        Json json = to_json(calibration);
        json["preset"] = name_in_plans(calibration, id);
        json["file"] = saved.empty() ? Json() : Json(saved);
        print_json(json);
        return {};
    }
    std::cout << to_text(calibration) << "\n";
    const char* key = calibration.cluster ? "cluster" : "stack";
    if (saved.empty())
        std::cout << "nothing saved (--dry-run)\n";
    else
        std::cout << "saved as " << saved << "; plans use it with \"" << key << "\": \""
                  << name_in_plans(calibration, id) << "\"\n";
    return {};
}

} // namespace

void add_calibrate(Cli& cli)
{
    auto* command = cli.app.add_subcommand("calibrate",
        "Fit a stack's or cluster's constants to measured runs; what ships stays, the result is a preset of your own");
    const auto options = std::make_shared<CalibrateOptions>();
    command->add_option("FILE", options->files, "measured tables (CSV as described in presets/published/README.md)")
        ->type_name("");
    command
        ->add_option("--stack", options->stack,
            "stack preset to start from; with a release (megatron-core@25.11) that one alone is fitted")
        ->required()
        ->type_name("ID[@RELEASE]");
    command->add_flag("--history", options->history, "take every stored run of that stack");
    command->add_option("--run", options->runs, "take this stored run (may be given several times)")->type_name("ID");
    command
        ->add_option("--cluster", options->cluster,
            "fit this cluster's links and matrix products for the stack instead, from its rows alone")
        ->type_name("ID");
    command->add_option("--output", options->output, "id of the preset to save (default: <base>-calibrated)")
        ->type_name("ID");
    command->add_flag("--dry-run", options->dry_run, "show what would change, save nothing");
    command->add_flag("--json", options->json, "print the report as JSON");
    command->add_option("--threads", options->threads, "0 = all cores")->type_name("N")->check(CLI::Range(0, 1024));
    command->callback([&cli, options] {
        cli.chosen = [options]() -> Expected<int> {
            FOURFOLD_CHECK(run_calibrate(*options));
            return kDone;
        };
    });
}

} // namespace fourfold::cli
