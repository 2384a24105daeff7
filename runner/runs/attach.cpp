// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/paths.h"
#include "core/history/run_event.h"
#include "core/history/store.h"
#include "runner/nodes/node.h"
#include "runner/protocol/message.h"
#include "runner/runs/attempts.h"
#include "runner/runs/follow.h"
#include "runner/runs/outcome.h"
#include "runner/runs/recorder.h"
#include "runner/runs/run_record.h"

namespace fourfold {

namespace {

// How many of the nodes' streams, the first node's first, are stored to their `end`.
std::size_t ended_streams(const HistoryStore& store, const std::string& run, std::size_t nodes)
{
    std::size_t node = 0;
    for (; node < nodes; ++node) {
        const auto lines = store.events(run, stream_name(static_cast<int>(node)));
        const auto last = lines && !lines->empty() ? parse_json(lines->back(), "event") : Expected<Json>(Json());
        if (!last || kind_of(*last) != EventKind::end)
            break;
    }
    return node;
}

} // namespace

Expected<RunResult> follow_stored(const std::string& run_id, RunObserver& observer, std::stop_token stop,
    const std::filesystem::path& history_file, OnStop on_stop, const std::optional<StopOrder>& order, bool all_events)
{
    FOURFOLD_TRY(
        HistoryStore store, HistoryStore::open(history_file.empty() ? HistoryStore::default_file() : history_file));
    FOURFOLD_TRY(const std::string id, store.full_id(run_id));
    FOURFOLD_TRY(const RunDetail detail, store.show(id));
    const std::filesystem::path folder = run_record_folder(id);
    RunResult result;
    result.id = id;
    result.folder = folder;
    result.predicted_tps_per_gpu = detail.summary.predicted_tps_per_gpu;
    result.measured_tps_per_gpu = detail.summary.measured_tps_per_gpu;
    result.state = detail.summary.state;
    const auto launch_file = launch_record(id);
    const std::size_t hosts = launch_file ? array_field(object_field(*launch_file, "target"), "hosts").size() : 0;
    // The first node's `end` may be stored without a further node's: the program that followed the run went away
    // between.
    const std::size_t ended = is_terminal(result.state) ? ended_streams(store, id, hosts) : 0;
    if (is_terminal(result.state) && (ended == hosts || (ended == 0 && !all_events))) {
        if (!detail.summary.problem.empty())
            result.problem = Problem{ProblemCode::failed, detail.summary.problem, {}, {}};
        // Its files may have been exchanged or cut short since: the history decides. Another program that follows it
        // does the same.
        (void)Recorder::open(std::move(store), id, folder, std::vector<std::string>(hosts), 0);
        return result;
    }
    FOURFOLD_TRY(const Json launched, launch_file);
    FOURFOLD_TRY(
        const Target target, target_from_json(object_field(launched, "target"), (folder / "launch.json").string()));
    Mailbox mailbox;
    std::vector<Node> nodes = make_nodes(target, own_program("fourfold-agent"), mailbox, observer);
    FOURFOLD_TRY(Recorder recorder,
        Recorder::open(std::move(store), id, folder, names_of(nodes), all_events ? 0 : target.events_gib));
    observer.on_created(id, folder);
    // The program that launched it is gone (its lock is ours), and it had not come to what starts ranks.
    if (result.state < RunState::launching)
        return conclude(recorder, observer,
            {RunState::fail,
                Problem{ProblemCode::failed,
                    "the program that launched the run ended before its ranks were started, in the state \""
                        + std::string(name(result.state)) + "\"",
                    "nothing of it runs: launch it again", {}}});
    observer.on_state(result.state, "catching up");
    std::vector<std::vector<RankPlace>> ranks;
    for (const Json& list : array_field(launched, "ranks")) {
        ranks.emplace_back();
        for (const Json& rank : list) {
            if (rank.is_number_integer())
                ranks.back().push_back({rank.get<int>(), 0, {}});
        }
    }
    assign_ranks(nodes, target, ranks);
    FollowOptions options;
    options.on_stop = on_stop;
    options.link_s = target.link_s;
    options.stop_grace_s = target.stop_grace_s;
    options.save_s = target.save_s;
    options.give_up_s = target.connect_timeout_s + 5;
    options.was_launching = result.state == RunState::launching;
    options.order = order;
    // Somebody asked for its end and could not reach every host, or the program that was to see to it went away.
    if (!order && (result.state == RunState::stopping || was_asked_to_stop(folder)))
        options.order = StopOrder{RunState::cancelled, "stopped on request", nullptr};
    FollowResult followed = follow(nodes, recorder, observer, mailbox, stop, options);
    if (all_events && is_terminal(result.state) && (followed.state == RunState::lost || !is_terminal(followed.state))) {
        // What is known of its end stays, whatever has become of the nodes' folders.
        FOURFOLD_CHECK(recorder.set_state(result.state, detail.summary.problem));
        if (followed.problem)
            return *followed.problem;
        return result;
    }
    return conclude(recorder, observer, std::move(followed));
}

Expected<RunResult> follow_to_end(const std::string& run_id, RunObserver& observer, std::stop_token stop,
    const std::filesystem::path& history_file, OnStop on_stop, bool all_events)
{
    FOURFOLD_TRY(RunResult result, follow_stored(run_id, observer, stop, history_file, on_stop, {}, all_events));
    if (result.state != RunState::preempted)
        return result;
    const auto file = result.folder / "launch.json";
    const auto launched = read_json_file(file);
    if (!launched) // of a run that was imported
        return result;
    FOURFOLD_TRY(const Target target, target_from_json(object_field(*launched, "target"), file.string()));
    return follow_attempts(
        std::move(result), target, own_program("fourfold-agent"), observer, stop, history_file, on_stop);
}

Expected<RunResult> attach(const std::string& run_id, RunObserver& observer, std::stop_token stop,
    const std::filesystem::path& history_file, bool all_events)
{
    return follow_to_end(run_id, observer, stop, history_file, OnStop::detach, all_events);
}

} // namespace fourfold
