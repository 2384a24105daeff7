// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/paths.h"
#include "core/history/store.h"
#include "runner/protocol/message.h"
#include "runner/runs/follow.h"
#include "runner/runs/launch_plan.h"
#include "runner/runs/node.h"
#include "runner/runs/outcome.h"
#include "runner/runs/recorder.h"
#include "runner/runs/run_id.h"
#include "runner/runs/start_nodes.h"

#include <sys/stat.h>

namespace fourfold {

namespace {

NewRun new_run(const LaunchPlan& plan, const std::string& id)
{
    NewRun run;
    run.id = id;
    run.name = plan.plan.name;
    run.target = plan.target.id;
    run.stack = plan.plan.stack.id;
    run.plan_hash = plan_hash(plan.plan);
    run.layout_hash = layout_hash(plan.plan);
    run.plan = to_json(plan.plan, PresetStyle::inlined);
    run.prediction = to_json(plan.prediction);
    if (plan.planned)
        run.planned_prediction = to_json(*plan.planned);
    for (std::size_t i = 0; i < plan.target.hosts.size(); ++i)
        run.hosts.push_back(host_name(plan.target, i));
    run.environment = Json::object();
    for (const auto& [key, value] : plan.environment)
        run.environment[key] = value;
    return run;
}

// What another program needs to find the nodes of this run again.
Expected<void> write_folder(const std::filesystem::path& folder, const NewRun& run, const LaunchPlan& plan)
{
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        return Problem{ProblemCode::io, "the run folder cannot be made: " + error.message(), {}, folder.string()};
    chmod(folder.c_str(), 0700);
    FOURFOLD_CHECK(write_file_atomically(folder / "plan.json", to_wire(run.plan) + "\n"));
    FOURFOLD_CHECK(write_file_atomically(folder / "prediction.json", to_wire(run.prediction) + "\n"));
    Json ranks = Json::array();
    for (const auto& places : plan.ranks) {
        Json list = Json::array();
        for (const RankPlace& place : places)
            list.push_back(place.rank);
        ranks.push_back(std::move(list));
    }
    return write_file_atomically(folder / "launch.json",
        to_wire({{"run", run.id}, {"target", to_json(plan.target)}, {"ranks", std::move(ranks)}}) + "\n");
}

} // namespace

Expected<RunResult> launch(const RunRequest& request, RunObserver& observer, std::stop_token stop)
{
    FOURFOLD_TRY(const LaunchPlan plan, plan_launch(request));
    const NewRun run = new_run(plan, new_run_id());
    const std::filesystem::path folder = data_folder() / "runs" / run.id;
    FOURFOLD_TRY(HistoryStore store,
        HistoryStore::open(request.history_file.empty() ? HistoryStore::default_file() : request.history_file));
    FOURFOLD_CHECK(write_folder(folder, run, plan));
    FOURFOLD_CHECK(store.create_run(run));
    FOURFOLD_TRY(Recorder recorder,
        Recorder::open(std::move(store), run.id, folder, static_cast<int>(plan.target.hosts.size())));
    observer.on_created(run.id, folder);
    if (!plan.note.empty())
        observer.on_state(RunState::draft, plan.note);

    Mailbox mailbox;
    std::vector<Node> nodes = make_nodes(plan.target, plan.agent, mailbox, observer);
    for (Node& node : nodes) {
        for (const RankPlace& place : plan.ranks[static_cast<std::size_t>(node.index)])
            node.ranks.push_back(place.rank);
    }
    const auto enter = [&](RunState state, const std::string& what) -> Expected<void> {
        observer.on_state(state, what);
        return recorder.set_state(state);
    };
    const auto started = start_nodes(nodes, plan, run.id, mailbox, observer, stop, enter);
    if (!started) {
        const bool cancelled = started.error().code == ProblemCode::cancelled;
        const RunState state = cancelled ? RunState::cancelled : RunState::fail;
        (void)recorder.set_state(state, started.error().line());
        observer.on_state(state, started.error().line());
        if (cancelled)
            return outcome(recorder, {state, started.error()});
        return started.error();
    }
    FollowOptions options;
    options.stop_grace_s = plan.target.stop_grace_s;
    options.give_up_s = plan.target.connect_timeout_s + 5;
    options.order = *started;
    // The run goes on whatever happens here, so a state that cannot be stored now is no reason to leave it.
    observer.on_state(RunState::running,
        std::to_string(plan.plan.gpus) + " ranks on " + std::to_string(nodes.size())
            + (nodes.size() == 1 ? " host" : " hosts"));
    (void)recorder.set_state(RunState::running);
    FollowResult followed = follow(nodes, recorder, observer, mailbox, stop, options);
    return conclude(recorder, observer, std::move(followed));
}

} // namespace fourfold
