// SPDX-License-Identifier: GPL-3.0-or-later
// Runs on two nodes with addresses of their own: the cable is pulled, the node stays away, comes back.
#include "core/history/store.h"
#include "runner/protocol/message.h"
#include "tests/cluster/ssh_cluster.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

namespace fourfold::test {
namespace {

class Cluster : public testing::Test {
protected:
    void SetUp() override
    {
        if (const std::string why = why_no_ssh_cluster(); !why.empty())
            GTEST_SKIP() << why;
        net = std::make_unique<Namespaces>(2);
        ASSERT_TRUE(net->good()) << "the namespaces could not be set up";
        for (int i = 1; i <= 2; ++i) {
            nodes.push_back(std::make_unique<Sshd>(
                home, "node" + std::to_string(i), SshdPlace{net->address(i), 22, net->node(i), {}}));
            nodes.back()->start();
        }
        observer.trust = true;
    }
    void TearDown() override
    {
        nodes.clear();
        net.reset();
    }

    RunRequest asked(const std::map<std::string, std::string>& environment)
    {
        RunRequest out = request(home, 4, environment);
        out.target = ssh_target(home, {nodes[0].get(), nodes[1].get()});
        return out;
    }

    [[nodiscard]] bool had_link(const std::string& state, int node) const
    {
        return std::any_of(observer.links.begin(), observer.links.end(), [&](const std::string& link) {
            return link.starts_with(state) && link.find(net->address(node)) != std::string::npos;
        });
    }

    Home home;
    std::unique_ptr<Namespaces> net;
    std::vector<std::unique_ptr<Sshd>> nodes;
    Recording observer;
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
    const auto result = launch(asked({{"FAKE_STEPS", "300"}, {"FAKE_STEP_MS", "40"}}), observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok) << (result->problem ? result->problem->line() : "");
    EXPECT_EQ(processes_of(result->id), 0);
    expect_whole(observer.events, "ok");
    std::vector<int> expected(300);
    for (int i = 0; i < 300; ++i)
        expected[static_cast<std::size_t>(i)] = i + 1;
    EXPECT_EQ(steps_of(observer.events), expected);
    EXPECT_TRUE(had_link("silent", 1));
    EXPECT_TRUE(had_link("reconnecting", 1));
    EXPECT_FALSE(had_link("reconnecting", 2)) << "the other node's link was not touched";
    const auto text = read_text_file(result->folder / "events.jsonl");
    const auto node = read_text_file(home.path() / "node/runs" / result->id / "events.jsonl");
    ASSERT_TRUE(text && node);
    EXPECT_EQ(*text, *node);
    // Each node's ranks used the node's own address.
    for (const auto& [rank, address] : {std::pair(0, net->address(1)), std::pair(3, net->address(2))}) {
        const auto log = read_text_file(result->folder / ("rank" + std::to_string(rank) + ".log"));
        ASSERT_TRUE(log);
        EXPECT_NE(log->find("of 4 on " + address), std::string::npos) << *log;
    }
}

TEST_F(Cluster, AHostThatDoesNotAnswer)
{
    net->cut(2);
    RunRequest away = asked({});
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
    RunRequest out = asked({{"FAKE_STEPS", "100000"}, {"FAKE_STEP_MS", "20"}});
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
