// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/pause.h"
#include "core/history/store.h"
#include "core/predict/shape_rules.h"
#include "runner/nodes/node.h"
#include "runner/rehearsal/rehearse_plan.h"
#include "runner/runs/attempts.h"
#include "runner/runs/follow.h"
#include "runner/runs/launch_plan.h"
#include "runner/runs/outcome.h"
#include "runner/runs/recorder.h"
#include "runner/runs/restarts.h"
#include "runner/runs/run_id.h"
#include "runner/runs/run_record.h"
#include "runner/runs/slurm_job.h"
#include "runner/runs/start_nodes.h"

#include <chrono>
#include <functional>
#include <thread>

namespace fourfold {

namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(100); // for another program's wish to stop

// Stored, then started and followed to its end.
class Launch {
public:
    Launch(const RunRequest& request, const LaunchPlan& plan, RunObserver& observer, std::stop_token stop)
        : request_(request)
        , plan_(plan)
        , observer_(observer)
        , forward_(std::move(stop), [this] { any_.request_stop(); })
        , stop_(any_.get_token())
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
        FOURFOLD_CHECK(record_run(store, plan_, id, request_.note));
        FOURFOLD_TRY(
            Recorder recorder, Recorder::open(std::move(store), id, folder, names_of(nodes_), plan_.target.events_gib));
        // What `fourfold stop` asks for: until ranks run, nobody but this program could carry it out.
        const std::jthread listener([&](const std::stop_token& done) {
            do {
                if (was_asked_to_stop(folder)) {
                    any_.request_stop();
                    return;
                }
            } while (!pause_until_stopped(done, kBetweenLooks));
        });
        observer_.on_created(id, folder);
        if (!plan_.note.empty())
            observer_.on_state(RunState::draft, plan_.note);
        FollowOptions options;
        options.link_s = plan_.target.link_s;
        options.stop_grace_s = plan_.target.stop_grace_s;
        options.save_s = plan_.target.save_s;
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
    std::stop_source any_; // the caller's, or another program's
    std::stop_callback<std::function<void()>> forward_;
    std::stop_token stop_;
    Mailbox mailbox_;
    std::vector<Node> nodes_;
};

// Before anything is touched. A plan that cannot be rehearsed here is told of, and may run all the same.
Expected<void> rehearse_first(
    const ResolvedPlan& plan, const std::filesystem::path& trainer, RunObserver& observer, const std::stop_token& stop)
{
    constexpr double kMostSeconds = 60;
    observer.on_state(RunState::preflight, "rehearsing the plan on this computer");
    const auto rehearsal = rehearse_plan({.plan = plan, .trainer = trainer, .timeout_s = kMostSeconds}, stop);
    if (rehearsal && rehearsal->at("problem").is_string())
        return Problem{ProblemCode::failed, "it would not run: " + rehearsal->at("problem").get<std::string>(),
            "change the plan, or start it unrehearsed: --no-rehearse, or the switch beside the steps", plan.where};
    if (!rehearsal && rehearsal.error().code == ProblemCode::cancelled)
        return rehearsal.error();
    if (!rehearsal)
        observer.on_state(RunState::preflight, "warning: not rehearsed: " + rehearsal.error().line());
    return {};
}

Expected<RunResult> launch_once(const RunRequest& request, RunObserver& observer, const std::stop_token& stop)
{
    FOURFOLD_TRY(const LaunchPlan plan, plan_launch(request));
    if (const std::string warning = capacity_warning(plan.plan); !warning.empty())
        observer.on_state(RunState::preflight, "warning: " + warning);
    if (request.rehearse)
        FOURFOLD_CHECK(rehearse_first(plan.plan, request.trainer, observer, stop));
    FOURFOLD_TRY(RunResult result, Launch(request, plan, observer, stop).run());
    return follow_attempts(
        std::move(result), plan.target, plan.agent, observer, stop, request.history_file, OnStop::cancel);
}

} // namespace

Expected<RunResult> launch(const RunRequest& request, RunObserver& observer, std::stop_token stop)
{
    FOURFOLD_TRY(RunResult result, launch_once(request, observer, stop));
    return launch_after(std::move(result), request, observer, std::move(stop));
}

Expected<RunResult> launch_after(
    RunResult result, const RunRequest& request, RunObserver& observer, std::stop_token stop)
{
    const auto once = [&](const RunRequest& each) { return launch_once(each, observer, stop); };
    return go_on_after(std::move(result), request, once, observer, stop);
}

} // namespace fourfold
