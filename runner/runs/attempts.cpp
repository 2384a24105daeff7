// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/attempts.h"

#include "core/history/store.h"
#include "core/plan/presets.h"
#include "runner/nodes/node.h"
#include "runner/protocol/attempt.h"
#include "runner/protocol/message.h"
#include "runner/runs/run_record.h"
#include "runner/runs/slurm_job.h"

namespace fourfold {

namespace {

Expected<HistoryStore> open(const std::filesystem::path& history_file)
{
    return HistoryStore::open(history_file.empty() ? HistoryStore::default_file() : history_file);
}

// A further attempt as the first one was recorded: same plan, prediction, hosts and environment.
Expected<void> record_attempt(HistoryStore& store, const std::string& first, const std::string& attempt)
{
    FOURFOLD_TRY(const RunDetail detail, store.show(first));
    const auto file = run_record_folder(first) / "launch.json";
    FOURFOLD_TRY(const Json launched, read_json_file(file));
    LaunchPlan plan;
    FOURFOLD_TRY(plan.target, target_from_json(object_field(launched, "target"), file.string()));
    plan.target.id = detail.summary.target;
    FOURFOLD_TRY(const Plan written, plan_from_json(detail.plan, "plan of run " + first));
    FOURFOLD_TRY(plan.plan, resolve(written, Presets()));
    FOURFOLD_TRY(plan.prediction, prediction_from_json(detail.prediction, "prediction of run " + first));
    if (detail.planned_prediction) {
        FOURFOLD_TRY(plan.planned, prediction_from_json(*detail.planned_prediction, "prediction of run " + first));
    }
    for (const auto& [key, value] : detail.environment.items()) {
        if (value.is_string())
            plan.environment[key] = value.get<std::string>();
    }
    for (const Json& list : array_field(launched, "ranks")) {
        plan.ranks.emplace_back();
        for (const Json& rank : list) {
            if (rank.is_number_integer())
                plan.ranks.back().push_back({rank.get<int>(), 0, {}});
        }
    }
    FOURFOLD_CHECK(record_run(store, plan, attempt));
    return store.set_state(attempt, RunState::running); // until its end is read
}

// The job's number is known to the login host, by the first attempt's folder.
Expected<void> take_out_of_queue(Node& login, const std::string& run)
{
    if (!login.agent)
        FOURFOLD_CHECK(login.connect({}));
    FOURFOLD_CHECK(login.agent->stop(run, 0, RunState::cancelled, "stopped on request", nullptr, 0));
    FOURFOLD_TRY(const Json status, login.agent->status(run, 0)); // answered when the stop is done
    return {};
}

// What follows on `last` where nothing more is to run: the job leaves the queue, or an attempt that has begun is being
// ended by that.
Expected<std::optional<int>> attempt_to_end(Node& login, const Attempt& last)
{
    FOURFOLD_CHECK(take_out_of_queue(login, last.run));
    FOURFOLD_TRY(const AgentClient::Attempts found, login.agent->attempts(last.run));
    return found.last > last.number ? std::optional(last.number + 1) : std::nullopt;
}

} // namespace

Expected<RunResult> follow_attempts(RunResult result, const Target& target, const std::filesystem::path& agent,
    RunObserver& observer, std::stop_token stop, const std::filesystem::path& history_file, OnStop on_stop,
    const std::optional<StopOrder>& order)
{
    if (!target.slurm || !target.slurm->requeue)
        return result;
    Mailbox mailbox;
    std::vector<Node> nodes = make_nodes(target, agent, mailbox, observer);
    while (result.state == RunState::preempted) {
        const Attempt last = attempt_of(result.id);
        std::string next = attempt_id({last.run, last.number + 1});
        FOURFOLD_TRY(HistoryStore store, open(history_file));
        if (!store.full_id(next)) {
            const auto started = order ? attempt_to_end(nodes.front(), last)
                                       : next_attempt(nodes.front(), last.run, last.number, observer, stop);
            if (!started && on_stop == OnStop::detach && stop.stop_requested())
                return result;
            if (!started && stop.stop_requested())
                (void)take_out_of_queue(nodes.front(), last.run);
            if (!started) {
                Problem problem = started.error();
                if (!stop.stop_requested())
                    problem.hint += (problem.hint.empty() ? "" : "; ")
                        + ("the job stays where it is, `fourfold attach " + result.id + "` goes on");
                return problem;
            }
            if (!*started)
                return result;
            next = attempt_id({last.run, **started});
            FOURFOLD_CHECK(record_attempt(store, last.run, next));
        }
        FOURFOLD_TRY(result, follow_stored(next, observer, stop, history_file, on_stop, order));
    }
    return result;
}

} // namespace fourfold
