// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/history/store.h"
#include "runner/protocol/message.h"
#include "runner/runs/attempts.h"
#include "runner/runs/follow.h"
#include "runner/runs/launch_plan.h"
#include "runner/runs/node.h"
#include "runner/runs/outcome.h"
#include "runner/runs/recorder.h"
#include "runner/runs/run_record.h"
#include "runner/runs/run_state.h"

namespace fourfold {

namespace {

// True when a further node's stream has no `end` yet although the first node's has: the program that followed the run
// went away between the two.
bool some_node_goes_on(const HistoryStore& store, const std::string& run, std::size_t nodes)
{
    const auto ended = [&](int node) {
        const auto lines = store.events(run, stream_name(node));
        if (!lines || lines->empty())
            return false;
        const auto last = parse_json(lines->back(), "event");
        return last && text_field(*last, "event") == "end";
    };
    if (nodes < 2 || !ended(0))
        return false;
    for (std::size_t node = 1; node < nodes; ++node) {
        if (!ended(static_cast<int>(node)))
            return true;
    }
    return false;
}

} // namespace

Expected<RunResult> follow_stored(const std::string& run_id, RunObserver& observer, std::stop_token stop,
    const std::filesystem::path& history_file, OnStop on_stop, const std::optional<StopOrder>& order)
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
    result.state = run_state(detail.summary.state);
    const auto launch_file = read_json_file(folder / "launch.json");
    const std::size_t hosts = launch_file ? array_field(object_field(*launch_file, "target"), "hosts").size() : 0;
    if (is_terminal(result.state) && !some_node_goes_on(store, id, hosts)) {
        if (!detail.summary.problem.empty())
            result.problem = Problem{ProblemCode::failed, detail.summary.problem, {}, {}};
        return result;
    }
    FOURFOLD_TRY(const Json launched, launch_file);
    FOURFOLD_TRY(
        const Target target, target_from_json(object_field(launched, "target"), (folder / "launch.json").string()));
    Mailbox mailbox;
    std::vector<Node> nodes = make_nodes(target, own_program("fourfold-agent"), mailbox, observer);
    FOURFOLD_TRY(Recorder recorder, Recorder::open(std::move(store), id, folder, static_cast<int>(nodes.size())));
    observer.on_created(id, folder);
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
    options.give_up_s = target.connect_timeout_s + 5;
    options.order = order;
    if (result.state == RunState::stopping && !order) // somebody asked for its end and could not reach every host
        options.order = StopOrder{"cancelled", "stopped on request", nullptr};
    FollowResult followed = follow(nodes, recorder, observer, mailbox, stop, options);
    return conclude(recorder, observer, std::move(followed));
}

Expected<RunResult> follow_to_end(const std::string& run_id, RunObserver& observer, std::stop_token stop,
    const std::filesystem::path& history_file, OnStop on_stop)
{
    FOURFOLD_TRY(RunResult result, follow_stored(run_id, observer, stop, history_file, on_stop));
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

Expected<RunResult> attach(
    const std::string& run_id, RunObserver& observer, std::stop_token stop, const std::filesystem::path& history_file)
{
    return follow_to_end(run_id, observer, stop, history_file, OnStop::detach);
}

} // namespace fourfold
