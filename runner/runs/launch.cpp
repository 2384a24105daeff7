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
#include "runner/slurm/start_job.h"

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
    for (std::size_t i = 0; i < plan.ranks.size(); ++i)
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

namespace {

// Stored, then started and followed to its end. `attempt` > 0: Slurm has started it already.
class Launch {
public:
    Launch(const RunRequest& request, const LaunchPlan& plan, RunObserver& observer, std::stop_token stop)
        : request_(request)
        , plan_(plan)
        , observer_(observer)
        , stop_(std::move(stop))
        , nodes_(make_nodes(plan.target, plan.agent, mailbox_, observer))
    {
        assign_ranks(nodes_, plan.target, plan.ranks);
    }

    Expected<RunResult> first() { return run(new_run_id(), 0); }

    // The attempts that Slurm makes of a preempted run, each a run of its own; the last one's result.
    Expected<RunResult> further(RunResult result)
    {
        const std::string run_id = result.id;
        for (int attempt = 0; result.state == RunState::preempted; ++attempt) {
            FOURFOLD_TRY(const auto next, next_attempt(nodes_.front(), run_id, attempt, observer_, stop_));
            if (!next)
                break;
            FOURFOLD_TRY(result, run(run_id + "A" + std::to_string(*next), *next));
        }
        return result;
    }

private:
    Expected<RunResult> run(const std::string& id, int attempt)
    {
        const NewRun stored = new_run(plan_, id);
        const std::filesystem::path folder = data_folder() / "runs" / id;
        FOURFOLD_TRY(HistoryStore store,
            HistoryStore::open(request_.history_file.empty() ? HistoryStore::default_file() : request_.history_file));
        FOURFOLD_CHECK(write_folder(folder, stored, plan_));
        FOURFOLD_CHECK(store.create_run(stored));
        FOURFOLD_TRY(Recorder recorder, Recorder::open(std::move(store), id, folder, static_cast<int>(nodes_.size())));
        observer_.on_created(id, folder);
        if (!plan_.note.empty())
            observer_.on_state(RunState::draft, plan_.note);
        FollowOptions options;
        options.stop_grace_s = plan_.target.stop_grace_s;
        options.give_up_s = plan_.target.connect_timeout_s + 5;
        const auto enter = [&](RunState state, const std::string& what) -> Expected<void> {
            observer_.on_state(state, what);
            return recorder.set_state(state);
        };
        if (attempt == 0) {
            const auto started = start(id, options, enter);
            if (!started) {
                const bool cancelled = started.error().code == ProblemCode::cancelled;
                const RunState state = cancelled ? RunState::cancelled : RunState::fail;
                (void)recorder.set_state(state, started.error().line());
                observer_.on_state(state, started.error().line());
                if (cancelled)
                    return outcome(recorder, {state, started.error()});
                return started.error();
            }
        }
        // The run goes on whatever happens here, so a state that cannot be stored now is no reason to leave it.
        if (plan_.target.kind != TargetKind::slurm)
            (void)enter(RunState::running,
                std::to_string(plan_.plan.gpus) + " ranks on " + std::to_string(nodes_.size())
                    + (nodes_.size() == 1 ? " host" : " hosts"));
        FollowResult followed = follow(nodes_, recorder, observer_, mailbox_, stop_, options);
        return conclude(recorder, observer_, std::move(followed));
    }

    Expected<void> start(const std::string& id, FollowOptions& options, const EnterState& enter)
    {
        if (plan_.target.kind == TargetKind::slurm)
            return start_slurm_job(nodes_, plan_, id, mailbox_, observer_, stop_, enter);
        FOURFOLD_TRY(options.order, start_nodes(nodes_, plan_, id, mailbox_, observer_, stop_, enter));
        return {};
    }

    const RunRequest& request_;
    const LaunchPlan& plan_;
    RunObserver& observer_;
    std::stop_token stop_;
    Mailbox mailbox_;
    std::vector<Node> nodes_;
};

} // namespace

Expected<RunResult> launch(const RunRequest& request, RunObserver& observer, std::stop_token stop)
{
    FOURFOLD_TRY(const LaunchPlan plan, plan_launch(request));
    Launch launch(request, plan, observer, std::move(stop));
    FOURFOLD_TRY(RunResult result, launch.first());
    if (plan.target.slurm && plan.target.slurm->requeue)
        return launch.further(std::move(result));
    return result;
}

} // namespace fourfold
