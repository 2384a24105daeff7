// SPDX-License-Identifier: GPL-3.0-or-later
// A node is lost in the middle of a run: `restarts` go on with the others, on a layout for what is left. Three nodes of
// two ranks each; their trainer is the fake one.
#include "core/history/store.h"
#include "runner/protocol/message.h"
#include "tests/cluster/ssh_cluster.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

namespace fourfold::test {
namespace {

class Restarts : public SshCluster {
protected:
    // `lost_rank` is gone in step 25, which `missing_rank` finds, as a collective of theirs does not end.
    RunRequest asked(int lost_rank, int missing_rank)
    {
        RunRequest out = SshCluster::asked(6,
            {{"FAKE_STEPS", "40"}, {"FAKE_STEP_MS", "20"}, {"FAKE_FAIL_STEP", "25"}, {"FAKE_TOLD_MS", "600000"},
                {"FAKE_FAIL_RANK", std::to_string(lost_rank)}, {"FAKE_LOST_RANK", std::to_string(missing_rank)},
                {"FAKE_CHECKPOINT", (home.path() / "saved/step-00000001").string()}, {"FAKE_FAILS_UNLOADED", "1"}});
        out.plan.training.global_batch = 12;
        out.plan.training.micro_batches = 4;
        out.target.connect_timeout_s = 8; // of which a busy computer may need some
        out.restarts = 2;
        return out;
    }
    // Once, when the first run is under way.
    void at_step(int step, std::function<void()> what)
    {
        observer.each_event = [this, step, what = std::move(what)](const Json& event) {
            if (integer_field(event, "step") == step && !std::exchange(done, true))
                what();
        };
    }
    [[nodiscard]] std::string name_of(int node) const
    {
        return place_name(nodes[static_cast<std::size_t>(node - 1)]->host());
    }
    // Newest first.
    static std::vector<RunDetail> history()
    {
        std::vector<RunDetail> out;
        const auto store = HistoryStore::open(HistoryStore::default_file());
        const auto runs = store ? store->list() : Expected<std::vector<RunSummary>>(store.error());
        EXPECT_TRUE(runs);
        for (const RunSummary& run : runs ? *runs : std::vector<RunSummary>{})
            out.push_back(*store->show(run.id));
        return out;
    }
    static std::string hash_of(const RunDetail& run)
    {
        const auto plan = read_resolved(run.plan, "history");
        EXPECT_TRUE(plan) << (plan ? "" : plan.error().line());
        return text_field(run.other_events.front(), "plan_hash");
    }
    // Two runs: the one that failed on all nodes, and the one that went on without `lost` and ended well.
    void expect_went_on(const Expected<RunResult>& result, int lost)
    {
        ASSERT_TRUE(result) << result.error().line();
        EXPECT_EQ(result->state, RunState::ok) << (result->problem ? result->problem->line() : "");
        EXPECT_EQ(processes_of(result->id), 0);
        const std::vector<RunDetail> runs = history();
        ASSERT_EQ(runs.size(), 2u);
        const RunDetail &second = runs[0], &first = runs[1];
        EXPECT_EQ(second.summary.id, result->id);
        EXPECT_EQ(second.summary.state, RunState::ok);
        EXPECT_NE(first.summary.state, RunState::ok);
        EXPECT_EQ(first.hosts.size(), 3u);
        EXPECT_LT(second.hosts.size(), 3u);
        EXPECT_EQ(std::count(second.hosts.begin(), second.hosts.end(), name_of(lost)), 0);
        EXPECT_EQ(first.summary.gpus, 6);
        EXPECT_LE(second.summary.gpus, 4);
        EXPECT_NE(first.summary.layout, second.summary.layout);
        const std::string note = "restart 1 of run " + first.summary.id + " from " + (home.path() / "saved").string()
            + ": " + name_of(lost) + " is lost (";
        EXPECT_EQ(second.summary.note.rfind(note, 0), 0u) << second.summary.note;
        EXPECT_NE(second.summary.note.find(second.summary.layout + " (gpus 6 -> "), std::string::npos)
            << second.summary.note;
        EXPECT_NE(hash_of(first), hash_of(second));
        EXPECT_EQ(second.plan["training"]["global_batch"], 12);
        EXPECT_EQ(second.plan["run"]["checkpoint"]["load"], (home.path() / "saved").string());
        const auto events = read_events(result->folder / "events.jsonl");
        expect_whole(events, "ok");
        EXPECT_EQ(steps_of(events).size(), 40u);
    }

    bool done = false;
};

TEST_F(Restarts, ANodeThatIsCutOff)
{
    make(3);
    at_step(20, [this] { net->cut(2); });
    expect_went_on(launch(asked(3, 0), observer, {}), 2);
    const RunDetail first = history()[1];
    EXPECT_NE(first.summary.problem.find("could not be reached to stop its ranks"), std::string::npos)
        << first.summary.problem;
    // Its ranks never heard of it; they are ended when it is back.
    net->heal(2);
    Recording second;
    second.trust = true;
    const auto finished = attach(first.summary.id, second, {});
    ASSERT_TRUE(finished) << finished.error().line();
    EXPECT_TRUE(is_terminal(finished->state));
    EXPECT_EQ(processes_of(first.summary.id), 0);
}

// The node of the first rank, whose agent merges the events, and which the others meet at.
TEST_F(Restarts, TheFirstNodeLosesItsPower)
{
    const auto boot_id = home.path() / "boot_id";
    std::ofstream(boot_id) << "11111111-1111-1111-1111-111111111111\n";
    make(3, [&](int node, SshdPlace& place) { place.boot_id_file = node == 1 ? boot_id.string() : ""; });
    at_step(20, [this] {
        net->cut(1);
        nodes[0]->stop();
    });
    expect_went_on(launch(asked(0, 5), observer, {}), 1);
}

// A rank that fails by itself leaves everybody where they are.
TEST_F(Restarts, NobodyIsLost)
{
    make(3);
    RunRequest all = asked(4, -1);
    all.plan.run.environment["FAKE_TOLD_MS"] = "0";
    const auto result = launch(all, observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok) << (result->problem ? result->problem->line() : "");
    const std::vector<RunDetail> runs = history();
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[1].summary.state, RunState::fail);
    EXPECT_EQ(runs[0].hosts, runs[1].hosts);
    EXPECT_EQ(runs[0].summary.layout, runs[1].summary.layout);
    EXPECT_EQ(
        runs[0].summary.note, "restart 1 of run " + runs[1].summary.id + " from " + (home.path() / "saved").string());
}

TEST_F(Restarts, NothingFitsOnWhatIsLeft)
{
    make(3);
    RunRequest all = asked(3, 0);
    all.plan.cluster.gpu.memory_gib = 1e-4;
    at_step(20, [this] { net->cut(2); });
    const auto result = launch(all, observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::stopping) << "as the run that failed was left";
    ASSERT_TRUE(result->problem);
    EXPECT_EQ(history().size(), 1u);
    const std::string line = observer.texts.back();
    EXPECT_NE(line.find("not started anew: " + name_of(2) + " is lost ("), std::string::npos) << line;
    EXPECT_NE(line.find("GiB are missing"), std::string::npos) << line;
    net->heal(2);
}

// Ctrl-C while the second run is going.
TEST_F(Restarts, AStopEndsThemAll)
{
    make(3);
    RunRequest all = asked(3, 0);
    all.plan.run.environment["FAKE_STEPS"] = "1000000";
    std::stop_source stop;
    bool again = false;
    observer.each_state = [&](RunState, const std::string& what) { again = again || what.starts_with("restart 1 "); };
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") == 20 && !again)
            net->cut(2);
        else if (integer_field(event, "step") == 30 && again)
            stop.request_stop();
    };
    const auto result = launch(all, observer, stop.get_token());
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::cancelled);
    EXPECT_EQ(processes_of(result->id), 0);
    EXPECT_EQ(history().size(), 2u) << "no further one is begun";
    net->heal(2);
}

} // namespace
} // namespace fourfold::test
