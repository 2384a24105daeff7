// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold run`: a plan on a target.
#include "app/cli/plan_source.h"
#include "app/cli/run_progress.h"
#include "app/cli/stop_signals.h"

#include <iostream>
#include <memory>

namespace fourfold::cli {

namespace {

struct Options {
    PlanOptions plan;
    std::string target = "local";
    std::optional<int> steps;
    bool json = false, dry_run = false, accept_new_hosts = false;
};

int show_preview(const RunRequest& request, bool json)
{
    const auto result = preview(request);
    if (!result)
        return fail(result.error());
    if (json)
        print_json(result->document);
    else
        std::cout << result->text << (result->text.ends_with('\n') ? "" : "\n");
    return kDone;
}

int run(const Options& options)
{
    const auto plan = options.plan.load_sound(Presets());
    if (!plan)
        return fail(plan.error());
    const auto target = load_target(options.target);
    if (!target)
        return fail(target.error());
    RunRequest request;
    request.plan = *plan;
    request.target = *target;
    request.steps = options.steps;
    if (options.dry_run)
        return show_preview(request, options.json);

    RunProgress progress(options.json, options.accept_new_hosts);
    Expected<RunResult> result = [&] {
        const StopSignals signals("stopping the run on every node");
        return launch(request, progress, signals.token());
    }();
    return result ? finish(*result, request.history_file, options.json) : fail(result.error());
}

} // namespace

void add_run(Cli& cli)
{
    auto* command = cli.app.add_subcommand("run", "Train a plan on this computer or over SSH and store the run");
    command->footer("With --json each event is one line of standard output as it arrives, the last line is\n"
                    "{\"result\": ...}. Ctrl-C stops every rank on every node.");
    const auto options = std::make_shared<Options>();
    options->plan.add_to(*command, true);
    command->add_option("--target", options->target, "local (default), a target's id or file, or user@host1,host2:2222")
        ->type_name("TARGET");
    command->add_option("--steps", options->steps, "optimizer steps, instead of the plan's run.steps")
        ->type_name("N")
        ->check(CLI::Range(1, 1000000000));
    command->add_flag("--json", options->json, "print events and result as JSON Lines");
    command->add_flag("--dry-run", options->dry_run, "say what would be done: hosts, ranks, files, remote commands");
    command->add_flag("--accept-new-hosts", options->accept_new_hosts,
        "store the keys of unknown hosts without asking; changed keys are always refused");
    command->callback([&cli, options] { cli.chosen = [options] { return run(*options); }; });
}

} // namespace fourfold::cli
