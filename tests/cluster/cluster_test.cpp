// SPDX-License-Identifier: GPL-3.0-or-later
// Runs on two nodes with addresses of their own: the cable is pulled, the node stays away, comes back.
#include "core/history/store.h"
#include "runner/protocol/message.h"
#include "tests/cluster/ssh_cluster.h"

#include <chrono>
#include <thread>

namespace fourfold::test {
namespace {

class Cluster : public SshCluster {
protected:
    void SetUp() override
    {
        SshCluster::SetUp();
        if (!IsSkipped())
            make(2);
    }
};

TEST_F(Cluster, APulledCableLosesNothing)
{
    std::jthread healer;
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") != 20)
            return;
        net->cut(1);
        healer = std::jthread([this] {
            std::this_thread::sleep_for(std::chrono::seconds(8)); // longer than a silent link is trusted
            net->heal(1);
        });
    };
    const auto result = launch(asked(4, {{"FAKE_STEPS", "300"}, {"FAKE_STEP_MS", "40"}}), observer, {});
    ASSERT_TRUE(result) << result.error().line();
    expect_all_steps(*result, 300);
    expect_whole(observer.events, "ok");
    EXPECT_TRUE(had_link("silent", 1));
    EXPECT_TRUE(had_link("reconnecting", 1));
    EXPECT_FALSE(had_link("reconnecting", 2)) << "the other node's link was not touched";
    // Each node's ranks used the node's own address.
    for (const auto& [rank, address] : {std::pair(0, net->address(1)), std::pair(3, net->address(2))}) {
        const auto log = read_text_file(result->folder / ("rank" + std::to_string(rank) + ".log"));
        ASSERT_TRUE(log);
        EXPECT_NE(log->find("of 4 on " + address), std::string::npos) << *log;
    }
}

// A second network between the nodes, on which they are not reached from here: the ranks meet there.
TEST_F(Cluster, TheRanksUseTheInterfaceThatTheTargetNames)
{
    const auto ip = [](std::vector<std::string> words) {
        words.insert(words.begin(), "ip");
        return run_program(words) == 0;
    };
    ASSERT_TRUE(
        ip({"-n", net->node(1), "link", "add", "ib0", "type", "veth", "peer", "name", "ib0", "netns", net->node(2)}));
    for (int i = 1; i <= 2; ++i) {
        ASSERT_TRUE(ip({"-n", net->node(i), "addr", "add", "10.231.79." + std::to_string(i) + "/24", "dev", "ib0"}));
        ASSERT_TRUE(ip({"-n", net->node(i), "link", "set", "ib0", "up"}));
    }
    RunRequest fast = asked(4, {{"FAKE_STEPS", "3"}});
    fast.target.interface = "ib0";
    const auto result = launch(fast, observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok) << (result->problem ? result->problem->line() : "");
    for (const auto& [rank, address] : {std::pair(0, "10.231.79.1"), std::pair(3, "10.231.79.2")}) {
        const auto log = read_text_file(result->folder / ("rank" + std::to_string(rank) + ".log"));
        ASSERT_TRUE(log);
        EXPECT_NE(log->find(std::string("of 4 on ") + address), std::string::npos) << *log;
    }
    const auto detail = HistoryStore::open(HistoryStore::default_file())->show(result->id);
    ASSERT_TRUE(detail) << detail.error().line();
    EXPECT_EQ(text_field(detail->environment, "NCCL_SOCKET_IFNAME"), "ib0") << "recorded as what the ranks got";
    fast.target.interface = "ib1";
    const auto refused = launch(fast, observer, {});
    ASSERT_FALSE(refused);
    const std::string line = refused.error().line();
    EXPECT_NE(line.find("no network interface \"ib1\""), std::string::npos) << line;
    EXPECT_NE(line.find("ib0 10.231.79."), std::string::npos) << "it says which there are: " << line;
}

TEST_F(Cluster, AHostThatDoesNotAnswer)
{
    net->cut(2);
    RunRequest away = asked(4, {});
    away.target.connect_timeout_s = 1;
    const auto result = launch(away, observer, {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().exit_status(), 1);
    EXPECT_NE(result.error().line().find("no answer within 1 s"), std::string::npos) << result.error().line();
    EXPECT_EQ(processes_of(observer.id), 0);
}

// A stop that cannot reach a node says so, and attach finishes it when the node is back.
TEST_F(Cluster, AStopIsFinishedWhenTheNodeIsBack)
{
    std::stop_source stop;
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") == 10) {
            net->cut(2);
            stop.request_stop();
        }
    };
    RunRequest out = asked(4, {{"FAKE_STEPS", "100000"}, {"FAKE_STEP_MS", "20"}});
    out.target.connect_timeout_s = 2;
    const auto result = launch(out, observer, stop.get_token());
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::stopping);
    ASSERT_TRUE(result->problem);
    EXPECT_NE(result->problem->line().find("could not be reached to stop"), std::string::npos)
        << result->problem->line();
    EXPECT_EQ(processes_of(result->id), 2) << "the first node's ranks are gone, the second's run on";
    net->heal(2);
    Recording second;
    const auto finished = attach(result->id, second, {});
    ASSERT_TRUE(finished) << finished.error().line();
    EXPECT_EQ(finished->state, RunState::cancelled);
    EXPECT_EQ(processes_of(result->id), 0);
}

} // namespace
} // namespace fourfold::test
