// SPDX-License-Identifier: GPL-3.0-or-later
// Launching a plan on a target and following it until it ends: the client's side of a run.
#pragma once

#include "core/plan/plan.h"
#include "core/predict/prediction.h"
#include "runner/nodes/connections.h"
#include "runner/nodes/run_observer.h"
#include "runner/target/target.h"

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

namespace fourfold {

struct RunRequest {
    ResolvedPlan plan; // of any stack: launch() predicts it again for stack `fourfold` and stores both
    Target target;
    std::optional<int> steps; // overrides run.steps
    bool rehearse = false; // on this computer first: a plan that would not run is not started
    // How often a run that failed, hung or was lost is started anew: from its newest checkpoint, on the hosts that are
    // left (runner/runs/restarts.h).
    int restarts = 0;
    std::string note; // of the run in the history
    bool measures = false; // the nodes, in place of training (runner/preflight/measure.h)
    std::filesystem::path history_file; // default HistoryStore::default_file()
    std::filesystem::path trainer; // default: fourfold-trainer (or -cuda for a plan on GPUs) beside this program
    std::filesystem::path agent; // default: fourfold-agent beside this program
};

struct RunResult {
    std::string id;
    std::filesystem::path folder; // on this computer: data_folder()/runs/<id>
    RunState state = RunState::fail;
    RunState ordered = RunState::lost; // of `stopping`: what its end would have been
    std::optional<Problem> problem; // why it did not end `ok`: first failing rank with host, cause, log lines
    std::optional<double> predicted_tps_per_gpu, measured_tps_per_gpu;
    bool events_left = false; // on the nodes, beyond the target's events_gib: attach() with `all_events` fetches them
};

// What launch() would do, without doing it: hosts, ranks, files with sizes and hashes, constant remote commands.
Expected<LaunchPreview> preview(const RunRequest& request);

// Creates the run in the history, brings what the nodes lack, starts the ranks and follows them to the end. A stop
// request cancels the run (every rank gone on every node) and returns state `cancelled`. A lost link is made anew until
// stop is requested: the agents own the ranks, nothing is lost. Where that cannot help (a changed host key), the result
// has the run's state and a Problem. Fails (Problem) only when no run was started; else the result says how it ended.
Expected<RunResult> launch(const RunRequest& request, RunObserver& observer, std::stop_token stop);

// What launch() does when the first run of `request` has ended with `result`: the restarts that are asked for.
Expected<RunResult> launch_after(
    RunResult result, const RunRequest& request, RunObserver& observer, std::stop_token stop);

// Catches up with a run of this history (any unique id prefix, or "last") and follows it to its end; a stop request
// only detaches (the result's state is then the run's own, "running"). A run that already ended returns at once. One
// program of this computer follows a run at a time; a second one is `refused`. `all_events` fetches the events that the
// target's events_gib left on the nodes, also of a run that has ended.
Expected<RunResult> attach(const std::string& run_id, RunObserver& observer, std::stop_token stop,
    const std::filesystem::path& history_file = {}, bool all_events = false);

// What attach() would do: with a target for a run that is looked for there, else for one of this history.
Expected<LaunchPreview> preview_attach(
    const std::string& run, const std::optional<Target>& target, const std::filesystem::path& history_file = {});

} // namespace fourfold
