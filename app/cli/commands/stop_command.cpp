// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold stop`: ends a run on every node.
#include "app/cli/runs/run_place.h"
#include "app/cli/runs/stop_signals.h"
#include "runner/runs/stop.h"

#include <iostream>
#include <memory>

namespace fourfold::cli {

namespace {

struct StopOptions {
    RunPlace place;
    bool json = false, accept_new_hosts = false, dry_run = false;
};

Expected<int> stop(const StopOptions& options)
{
    if (options.dry_run) {
        FOURFOLD_TRY(auto preview, options.place.preview());
        const bool ended = is_terminal(run_state(preview.document.value("state", "running")));
        preview.document["stops"] = !ended;
        preview.text += ended ? "" : "asks the agent of each host to stop the run's ranks\n";
        return show(preview, options.json);
    }
    RunProgress progress(false, options.accept_new_hosts);
    const StopSignals signals("giving up; ask again to stop what still runs");
    FOURFOLD_TRY(const auto run, options.place.find(progress, signals.token()));
    FOURFOLD_TRY(const auto result, stop_run(run, progress, signals.token()));
    if (options.json)
        print_json({{"id", result.id}, {"state", std::string(name(result.state))},
            {"problem", result.problem ? Json(result.problem->line()) : Json()}});
    if (!is_terminal(result.state)) {
        Problem problem
            = result.problem.value_or(Problem{ProblemCode::failed, "has not ended yet", "ask again to stop it", ""});
        problem.where = "run " + result.id + (problem.where.empty() ? "" : ": " + problem.where);
        fail(problem);
        return kFailed;
    }
    if (!options.json)
        std::cout << "run " << result.id << " has ended (" << name(result.state) << ")\n";
    return kDone;
}

} // namespace

void add_stop(Cli& cli)
{
    auto* command = cli.app.add_subcommand("stop", "End a run on every node, no matter who launched or follows it");
    command->footer(
        "The steps so far are in the history. A run that has ended already is left as it is. Exit status 1\n"
        "when a host could not be reached to stop its ranks: ask again.");
    const auto options = std::make_shared<StopOptions>();
    options->place.add_to(*command, true);
    command->add_flag("--dry-run", options->dry_run, "say what would be opened and stopped, open and stop nothing");
    command->add_flag("--json", options->json, "print one object");
    add_accept_new_hosts(*command, options->accept_new_hosts);
    command->callback([&cli, options] { cli.chosen = [options] { return stop(*options); }; });
}

} // namespace fourfold::cli
