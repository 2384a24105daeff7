// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold compare`: plans and stored runs side by side, as the desktop's Compare page.
#include "app/cli/history/history_view.h"
#include "app/cli/planning/plan_source.h"
#include "app/view/compare/comparison.h"
#include "core/calibration/user/evidence.h"

#include <iostream>
#include <memory>

namespace fourfold::cli {

namespace {

struct CompareOptions {
    std::vector<std::string> plans, runs;
    FormatOptions format;
    bool differences = false;
};

bool is_run(const std::string& name)
{
    const auto store = open_history();
    return store && *store && (*store)->full_id(name);
}

Expected<Table> compared(const CompareOptions& options)
{
    const Presets presets;
    Table table;
    table.columns = view::comparison_columns();
    for (const std::string& name : options.plans) {
        PlanOptions source;
        source.plan = name;
        auto read = source.load_sound(presets);
        if (!read && read.error().code == ProblemCode::not_found && is_run(name))
            return Problem{
                ProblemCode::bad_input, "is a stored run, expected a plan", "give it as --run " + name, name};
        FOURFOLD_TRY(const ResolvedPlan plan, std::move(read));
        table.rows.push_back(view::comparison_row(name, "plan", predict_with_evidence(plan), nullptr));
    }
    if (!options.runs.empty()) {
        FOURFOLD_TRY(const HistoryStore store, open_history_with_runs());
        for (const std::string& id : options.runs) {
            FOURFOLD_TRY(const RunDetail run, store.show(id));
            FOURFOLD_TRY(const Plan stored, plan_from_json(run.plan, "run " + run.summary.id));
            FOURFOLD_TRY(const ResolvedPlan plan, resolve(stored, presets)); // the stack's constants are the preset's
            table.rows.push_back(
                view::comparison_row(run.summary.id, "run", predict_with_evidence(plan), &run.summary));
        }
    }
    return table;
}

Expected<int> run_compare(const CompareOptions& options)
{
    FOURFOLD_TRY(const auto format, options.format.format());
    if (options.plans.size() + options.runs.size() < 2)
        return fail({ProblemCode::bad_input, "one entry cannot be compared", "name two or more plans or runs", ""});
    FOURFOLD_TRY(const auto table, compared(options));
    warn_of_missing_runs();
    std::cout << (format == TableFormat::text ? view::side_by_side(table, options.differences) : table).write(format);
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
        ->allow_extra_args(false);
    command->add_flag("--differences", options->differences, "in the text form: only what differs");
    options->format.add_to(*command);
    command->callback([&cli, options] { cli.chosen = [options] { return run_compare(*options); }; });
}

} // namespace fourfold::cli
