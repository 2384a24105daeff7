// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold run`: a plan on a target.
#include "app/cli/planning/plan_source.h"
#include "app/cli/runs/measured_sweep.h"
#include "app/cli/runs/run_place.h"
#include "app/cli/runs/stop_signals.h"
#include "runner/queue/queue_table.h"
#include "runner/queue/queue_worker.h"

#include <iostream>
#include <memory>

namespace fourfold::cli {

namespace {

struct RunOptions {
    PlanOptions plan;
    std::string target = "local", backend;
    std::optional<int> steps;
    int restarts = 0;
    bool json = false, dry_run = false, accept_new_hosts = false, from_last_good = false, no_rehearse = false,
         queue = false;
    SweepOptions sweep;
    DashboardOptions dashboards;
};

int show_preview(const RunRequest& request, bool json)
{
    const auto result = preview(request);
    return result ? show(*result, json) : fail(result.error());
}

Expected<int> sweep(const RunOptions& options, const Target& target)
{
    FOURFOLD_TRY(const auto plan, options.plan.load(Presets()));
    SweepRequest request;
    request.plan = plan;
    request.target = target;
    request.steps = options.steps;
    RunProgress progress(false, options.accept_new_hosts);
    SweepOptions asked = options.sweep;
    asked.format.json = asked.format.json || options.json;
    asked.dry_run = options.dry_run;
    return run_measured_sweep(asked, std::move(request), progress);
}

// What could not start is refused now, not when its turn comes.
Expected<int> enqueue(const RunRequest& request, bool json)
{
    FOURFOLD_CHECK(preview(request));
    const RunQueue queue;
    FOURFOLD_TRY(const std::int64_t number, queue.add(request));
    FOURFOLD_CHECK(ensure_turns(queue));
    if (json) {
        print_json({{"number", number}});
        return kDone;
    }
    FOURFOLD_TRY(const QueueContents contents, queue.read());
    std::cout << "run " << number << " of the queue (" << queue_summary(contents) << ")\n";
    return kDone;
}

Expected<int> run(const RunOptions& options)
{
    FOURFOLD_TRY(auto target, load_target(options.target));
    if (!options.backend.empty())
        target.backend = options.backend;
    if (!options.sweep.layouts.empty())
        return sweep(options, target);
    FOURFOLD_TRY(const auto plan, options.plan.load_sound(Presets()));
    RunRequest request;
    request.plan = plan;
    request.target = target;
    request.steps = options.steps;
    request.rehearse = !options.no_rehearse;
    request.restarts = options.restarts;
    if (options.from_last_good && request.plan.run.checkpoint.load.empty())
        return fail(Problem{ProblemCode::bad_input, "there is no checkpoint to continue from",
            "name its folder: --set run.checkpoint.load=PATH", "--from-last-good"});
    request.plan.run.checkpoint.from_last_good |= options.from_last_good;
    if (options.dry_run)
        return show_preview(request, options.json);
    if (options.queue)
        return enqueue(request, options.json);

    RunProgress progress(options.json, options.accept_new_hosts, options.dashboards);
    Expected<RunResult> result = [&] {
        const StopSignals signals("stopping the run on every node");
        return launch(request, progress, signals.token());
    }();
    progress.finish_dashboards();
    if (result)
        return finish(*result, request.history_file, options.json);
    const int status = fail(result.error());
    return progress.has_created() ? kFailed : status; // what a host lacks came up while running
}

} // namespace

void add_run(Cli& cli)
{
    auto* command = cli.app.add_subcommand(
        "run", "Train a plan on this computer, over SSH or in Slurm's queue, and store the run");
    command->footer("With --json each event is one line of standard output as it arrives, the last line is\n"
                    "{\"result\": ...}. Ctrl-C stops every rank on every node.\n"
                    "A sweep that was stopped goes on when the same command is given again.");
    const auto options = std::make_shared<RunOptions>();
    options->plan.add_to(*command, true);
    command->add_option("--target", options->target, "local (default), a target's id or file, or user@host1,host2:2222")
        ->type_name("TARGET");
    command
        ->add_option("--backend", options->backend,
            "what the ranks run on: nccl (GPUs) or gloo (CPUs), instead of the target's; default: the plan's hardware")
        ->type_name("NAME")
        ->check(CLI::IsMember({"gloo", "nccl"}));
    command->add_option("--steps", options->steps, "optimizer steps, instead of the plan's run.steps")
        ->type_name("N")
        ->check(CLI::Range(1, 1000000000));
    auto* restarts
        = command
              ->add_option("--restarts", options->restarts,
                  "start a run that failed, hung or was lost anew up to N times, from its newest checkpoint; "
                  "if a host is lost, on those that are left, with the best layout for them")
              ->type_name("N")
              ->check(CLI::Range(0, 1000000));
    auto* from_last_good = command->add_flag("--from-last-good", options->from_last_good,
        "where the checkpoint to load is damaged, go on from the newest older one that is whole");
    auto* no_rehearse = command->add_flag("--no-rehearse", options->no_rehearse,
        "start without rehearsing the plan on this computer first (see `fourfold rehearse`)");
    command->add_flag("--json", options->json, "print events and result as JSON Lines");
    command->add_flag("--dry-run", options->dry_run,
        "say what would be done: hosts, ranks, files, remote commands; of a sweep also each cell");
    auto* queue = command->add_flag("--queue", options->queue,
        "start it when its hosts are free and its turn has come, and do not wait for it (see `fourfold queue`)");
    for (CLI::Option* const board : options->dashboards.add_to(*command))
        queue->excludes(board);
    add_accept_new_hosts(*command, options->accept_new_hosts);
    queue->excludes("--accept-new-hosts"); // nobody is there to have been asked
    auto* layouts
        = command
              ->add_option("--sweep", options->sweep.layouts,
                  "measure every layout of this CSV (tp,cp,pp,micro_batch[,virtual_stages]), one run per cell")
              ->type_name("FILE");
    auto* gpus = command->add_option("--gpus", options->sweep.gpus, "GPU counts of the sweep, as in 4,8,16")
                     ->type_name("LIST")
                     ->needs(layouts);
    layouts->needs(gpus)->excludes(queue)->excludes(from_last_good)->excludes(no_rehearse)->excludes(restarts);
    command->add_flag("--skip-unfit", options->sweep.skip_unfit, "do not run cells that are predicted not to fit")
        ->needs(layouts);
    command->add_flag("--again", options->sweep.again, "measure cells again that an earlier sweep measured")
        ->needs(layouts);
    command
        ->add_option("--format", options->sweep.format.name, "of the sweep's table: text, json, csv, markdown or latex")
        ->type_name("FORMAT")
        ->needs(layouts);
    command->callback([&cli, options] { cli.chosen = [options] { return run(*options); }; });
}

} // namespace fourfold::cli
