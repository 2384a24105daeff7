// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/stop.h"

#include "core/base/paths.h"
#include "core/history/store.h"
#include "runner/nodes/node.h"
#include "runner/protocol/message.h"
#include "runner/runs/attempts.h"
#include "runner/runs/run_record.h"

#include <thread>

namespace fourfold {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr auto kPause = 50ms;
constexpr auto kUntilStored = 10s; // by the program that follows the run

// What the node did beyond telling its agent, in words.
Expected<std::string> stop_node(
    Node& node, const std::string& run, const Target& target, const StopOrder& order, const std::stop_token& stop)
{
    FOURFOLD_CHECK(node.connect(stop));
    FOURFOLD_CHECK(node.agent->stop(run, node.index, order.status, order.why, order.error, target.stop_grace_s));
    const auto deadline = Clock::now() + kUntilStored
        + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(target.stop_grace_s));
    const auto saved
        = deadline + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(target.save_s));
    while (!stop.stop_requested()) {
        FOURFOLD_TRY(const Json status, node.agent->status(run, node.index));
        const std::string state = text_field(status, "state");
        const bool lives = state == "unknown" && integer_field(status, "processes") > 0;
        if (state != "running" && state != "stopping" && state != "hung" && !lives)
            return node.agent->stop_note();
        if (Clock::now() > (state == "stopping" ? saved : deadline)) // an agent that answers sees to its ranks itself
            break;
        std::this_thread::sleep_for(kPause);
    }
    return Problem{ProblemCode::failed, "its ranks have not ended yet", "ask again", node.name};
}

// A run that is only being started has nothing on its nodes that could be told: the program that starts it gives up.
// The state in which it then is.
Expected<RunState> after_start(const HistoryStore& store, const RunResult& run, const std::stop_token& stop)
{
    for (const auto deadline = Clock::now() + kUntilStored;; std::this_thread::sleep_for(kPause)) {
        FOURFOLD_TRY(const RunDetail detail, store.show(run.id));
        const RunState state = detail.summary.state;
        if (state >= RunState::running || stop.stop_requested() || Clock::now() > deadline)
            return state;
    }
}

// Beside the program that follows the run: each node is told, the other one hears the end of each.
Expected<RunResult> stop_beside(const std::string& run_id, RunObserver& observer, const std::stop_token& stop,
    const std::filesystem::path& history_file, const StopOrder& order)
{
    FOURFOLD_TRY(const HistoryStore store,
        HistoryStore::open(history_file.empty() ? HistoryStore::default_file() : history_file, StoreMode::read_only));
    RunResult result;
    FOURFOLD_TRY(result.id, store.full_id(run_id));
    result.folder = run_record_folder(result.id);
    FOURFOLD_TRY(const Target target, recorded_target(result.id));
    observer.on_state(RunState::stopping, "another program of this computer follows the run and stores its end");
    // The program that starts or restarts the run looks for it. Where it cannot be written the nodes are told all the
    // same.
    (void)write_file_atomically(result.folder / kStopFile, "");
    FOURFOLD_TRY(result.state, after_start(store, result, stop));
    if (is_terminal(result.state)) {
        observer.on_state(result.state, "");
        return result;
    }
    Mailbox mailbox;
    std::vector<Node> nodes = make_nodes(target, own_program("fourfold-agent"), mailbox, observer);
    // A node that cannot be reached must not keep the others going.
    std::vector<std::optional<Problem>> problems(nodes.size());
    FOURFOLD_CHECK(on_all_nodes(nodes, mailbox, stop, [&](Node& node, std::stop_token phase) -> Expected<void> {
        const auto stopped = stop_node(node, result.id, target, order, phase);
        if (!stopped)
            problems[static_cast<std::size_t>(node.index)] = stopped.error();
        else if (!stopped->empty())
            mailbox.post([&, text = node.name + ": " + *stopped] { observer.on_state(RunState::stopping, text); });
        return {};
    }));
    for (auto& problem : problems) {
        if (problem && !result.problem)
            result.problem = std::move(problem);
    }
    const auto deadline = Clock::now() + kUntilStored;
    for (;; std::this_thread::sleep_for(kPause)) {
        FOURFOLD_TRY(const RunDetail detail, store.show(result.id));
        result.state = detail.summary.state;
        if (is_terminal(result.state) || stop.stop_requested() || Clock::now() > deadline)
            break;
    }
    if (!is_terminal(result.state) && !result.problem)
        result.problem = Problem{
            ProblemCode::failed, "its ranks have ended, the program that follows it has not stored that yet", {}, {}};
    observer.on_state(result.state, "");
    return result;
}

} // namespace

Expected<RunResult> stop_run(
    const std::string& run_id, RunObserver& observer, std::stop_token stop, const std::filesystem::path& history_file)
{
    const StopOrder order{RunState::cancelled, "stopped on request", nullptr};
    auto followed = follow_stored(run_id, observer, stop, history_file, OnStop::detach, order);
    if (!followed && followed.error().code == ProblemCode::refused)
        return stop_beside(run_id, observer, stop, history_file, order);
    FOURFOLD_TRY(RunResult result, std::move(followed));
    if (result.state != RunState::preempted)
        return result;
    const auto target = recorded_target(result.id);
    if (!target) // of a run that was imported
        return result;
    return follow_attempts(
        std::move(result), *target, own_program("fourfold-agent"), observer, stop, history_file, OnStop::detach, order);
}

} // namespace fourfold
