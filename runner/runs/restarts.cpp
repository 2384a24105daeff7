// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/restarts.h"

#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/history/event_types.h"
#include "core/search/edits.h"
#include "core/search/refit.h"
#include "runner/protocol/attempt.h"
#include "runner/runs/attempts.h"
#include "runner/runs/fit_hosts.h"
#include "runner/runs/run_record.h"
#include "runner/target/room.h"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <utility>

namespace fourfold {

namespace {

// Further tries may reach a host or find it mended; other Problems stay as they are.
bool may_pass(const Problem& problem)
{
    return problem.code == ProblemCode::network || problem.code == ProblemCode::failed
        || problem.code == ProblemCode::refused || problem.code == ProblemCode::io;
}

std::string counted_hosts(std::size_t count)
{
    return std::to_string(count) + (count == 1 ? " host" : " hosts");
}

std::string words_of(const std::vector<HostsLeft::Lost>& lost)
{
    constexpr std::size_t kMostNamed = 4;
    std::string out;
    for (std::size_t i = 0; i < std::min(lost.size(), kMostNamed); ++i)
        out += (out.empty() ? "" : ", ") + lost[i].name + " is lost (" + lost[i].why + ")";
    if (lost.size() > kMostNamed)
        out += " and " + std::to_string(lost.size() - kMostNamed) + " more";
    return out;
}

class Restarts {
public:
    Restarts(const RunRequest& request, const RunOnce& run_once, RunObserver& observer, const std::stop_token& stop)
        : asked_(request)
        , run_once_(run_once)
        , observer_(observer)
        , stop_(stop)
    {
        if (request.steps)
            asked_.plan.run.steps = *request.steps;
        hosts_ = all_hosts();
    }

    Expected<RunResult> after(RunResult result)
    {
        for (int number = 1; number <= asked_.restarts && may_go_on(result) && !stop_.stop_requested(); ++number) {
            if (!is_terminal(result.state) && (earlier_.empty() || earlier_.back().run.id != result.id))
                earlier_.push_back({{result.id, hosts_}, result.ordered});
            take_checkpoint(result);
            auto next = choose();
            if (!next && stop_.stop_requested())
                return result;
            if (next && was_asked_to_stop(result.folder)) // meanwhile, by another program
                return result;
            if (!next) {
                observer_.on_state(result.state, "not started anew: " + next.error().line());
                return result;
            }
            hosts_ = next->hosts;
            const std::string& load = asked_.plan.run.checkpoint.load;
            const std::string how
                = " from " + (load.empty() ? "the beginning: there is no checkpoint" : load) + next->words;
            observer_.on_state(RunState::draft, text_of("restart %d of %d", number, asked_.restarts) + how);
            next->request.note = text_of("restart %d of run ", number) + result.id + how;
            auto ended = run_once_(next->request);
            if (!ended && (number == asked_.restarts || stop_.stop_requested() || !may_pass(ended.error())))
                return ended.error();
            if (ended)
                result = *std::move(ended);
            else
                observer_.on_state(RunState::draft,
                    text_of("restart %d of %d", number, asked_.restarts) + " was not started: " + ended.error().line());
        }
        return result;
    }

private:
    struct Next {
        RunRequest request;
        std::vector<std::size_t> hosts; // that it uses
        std::string words; // what is lost, and what is changed for that; empty: nothing
    };

    [[nodiscard]] std::vector<std::size_t> all_hosts() const
    {
        std::vector<std::size_t> all(asked_.target.hosts.size());
        std::iota(all.begin(), all.end(), std::size_t(0));
        return all;
    }

    [[nodiscard]] bool has_several_hosts() const
    {
        return asked_.target.kind == TargetKind::ssh && asked_.target.hosts.size() > 1;
    }

    // Another run may end better: nobody stopped this one, and it did not ask for more memory than there is. One that
    // is `stopping` has a host that could not be reached to end its ranks: without that host it goes on.
    [[nodiscard]] bool may_go_on(const RunResult& result) const
    {
        const bool cut_off = result.state == RunState::stopping && has_several_hosts();
        const RunState end = cut_off ? result.ordered : result.state;
        return (end == RunState::fail || end == RunState::hang || end == RunState::lost)
            && !was_asked_to_stop(result.folder);
    }

    void take_checkpoint(const RunResult& result)
    {
        const std::string newest = newest_checkpoint(result.folder);
        if (newest.empty())
            return;
        CheckpointSettings& checkpoint = asked_.plan.run.checkpoint;
        // Beside it, where it is damaged, are older ones.
        checkpoint.load = std::filesystem::path(newest).parent_path().string();
        checkpoint.path = checkpoint.load;
        checkpoint.from_last_good = true;
    }

    Expected<Next> choose()
    {
        Next next{asked_, hosts_, {}};
        next.request.rehearse = false;
        if (!has_several_hosts())
            return next;
        FOURFOLD_TRY(const HostsLeft left, look());
        if (left.lost.empty()) {
            store_ends();
            next.hosts = all_hosts();
            if (next.hosts != hosts_)
                next.words = ": all " + counted_hosts(next.hosts.size()) + " are there again";
            return next;
        }
        const std::string lost = words_of(left.lost);
        auto fitted = fit_hosts(asked_.plan, asked_.target, left, stop_);
        if (!fitted) {
            Problem problem = fitted.error();
            problem.message = lost + ": " + problem.message;
            problem.where.clear();
            return problem;
        }
        const std::string of_those = fitted->hosts.size() == left.hosts.size()
            ? " left"
            : " of the " + std::to_string(left.hosts.size()) + " left";
        next.words = ": " + lost + "; on " + counted_hosts(fitted->hosts.size()) + of_those + ": "
            + layout_words(fitted->plan) + " (" + edit_summary(asked_.plan, fitted->plan) + ")";
        next.request.rehearse = asked_.rehearse;
        next.request.plan = std::move(fitted->plan);
        next.request.target = std::move(fitted->target);
        next.hosts = std::move(fitted->hosts);
        return next;
    }

    // Of earlier runs, when every host is there again: the history has them as `stopping` until somebody has their end.
    void store_ends()
    {
        class Silent : public RunObserver { // the runs that are told of are others by now
        public:
            explicit Silent(RunObserver& observer)
                : observer_(observer)
            {
            }
            bool trust_host_key(const HostKeyQuestion& question) override { return observer_.trust_host_key(question); }
            std::optional<std::string> secret(const SecretQuestion& question) override
            {
                return observer_.secret(question);
            }
            void on_right_answer() override { observer_.on_right_answer(); }

        private:
            RunObserver& observer_;
        } silent(observer_);
        for (const Earlier& earlier : earlier_) {
            const auto ended = follow_stored(earlier.run.id, silent, stop_, asked_.history_file, OnStop::detach,
                StopOrder{earlier.ordered, "the run goes on in a new one", nullptr});
            if (!ended)
                observer_.on_state(RunState::draft,
                    "warning: the end of run " + earlier.run.id + " is not stored: " + ended.error().line());
        }
        earlier_.clear();
    }

    Expected<HostsLeft> look()
    {
        HostsQuestion question;
        question.target = asked_.target;
        FOURFOLD_TRY(question.ranks, ranks_of_hosts(asked_.target, asked_.plan.gpus));
        FOURFOLD_TRY(const std::string backend, backend_of(asked_.target, asked_.plan, room_here()));
        question.on_gpus = backend == "nccl";
        for (const Earlier& earlier : earlier_)
            question.earlier.push_back(earlier.run);
        question.agent = asked_.agent.empty() ? own_program("fourfold-agent") : asked_.agent;
        return hosts_left(question, observer_, stop_);
    }

    RunRequest asked_; // of the first run, with the newest checkpoint
    const RunOnce& run_once_;
    RunObserver& observer_;
    const std::stop_token& stop_;
    std::vector<std::size_t> hosts_; // of the last run
    struct Earlier {
        EarlierRun run;
        RunState ordered; // what its end is
    };
    std::vector<Earlier> earlier_; // whose ranks may still be somewhere
};

} // namespace

Expected<RunResult> go_on_after(RunResult result, const RunRequest& request, const RunOnce& run_once,
    RunObserver& observer, const std::stop_token& stop)
{
    return Restarts(request, run_once, observer, stop).after(std::move(result));
}

} // namespace fourfold
