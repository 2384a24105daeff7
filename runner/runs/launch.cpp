// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/history/store.h"
#include "runner/nodes/node.h"
#include "runner/runs/attempts.h"
#include "runner/runs/follow.h"
#include "runner/runs/launch_plan.h"
#include "runner/runs/outcome.h"
#include "runner/runs/recorder.h"
#include "runner/runs/run_id.h"
#include "runner/runs/run_record.h"
#include "runner/runs/slurm_job.h"
#include "runner/runs/start_nodes.h"

namespace fourfold {

namespace {

// Stored, then started and followed to its end.
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

    Expected<RunResult> run()
    {
        const std::string id = new_run_id();
        const std::filesystem::path folder = run_record_folder(id);
        FOURFOLD_TRY(HistoryStore store,
            HistoryStore::open(request_.history_file.empty() ? HistoryStore::default_file() : request_.history_file));
        FOURFOLD_CHECK(record_run(store, plan_, id));
        FOURFOLD_TRY(
            Recorder recorder, Recorder::open(std::move(store), id, folder, names_of(nodes_), plan_.target.events_gib));
        observer_.on_created(id, folder);
        if (!plan_.note.empty())
            observer_.on_state(RunState::draft, plan_.note);
        FollowOptions options;
        options.link_s = plan_.target.link_s;
        options.stop_grace_s = plan_.target.stop_grace_s;
        options.give_up_s = plan_.target.connect_timeout_s + 5;
        const auto enter = [&](RunState state, const std::string& what) -> Expected<void> {
            observer_.on_state(state, what);
            return recorder.set_state(state);
        };
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
        // The run goes on whatever happens here, so a state that cannot be stored now is no reason to leave it.
        if (plan_.target.kind != TargetKind::slurm)
            (void)enter(RunState::running,
                std::to_string(plan_.plan.gpus) + " ranks on " + std::to_string(nodes_.size())
                    + (nodes_.size() == 1 ? " host" : " hosts"));
        FollowResult followed = follow(nodes_, recorder, observer_, mailbox_, stop_, options);
        return conclude(recorder, observer_, std::move(followed));
    }

private:
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
    FOURFOLD_TRY(RunResult result, Launch(request, plan, observer, stop).run());
    return follow_attempts(
        std::move(result), plan.target, plan.agent, observer, stop, request.history_file, OnStop::cancel);
}

} // namespace fourfold
