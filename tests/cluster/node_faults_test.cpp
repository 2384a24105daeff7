// SPDX-License-Identifier: GPL-3.0-or-later
// What happens to a node and its line: a crawl of 1 Mbit/s, a loss of power, files from node to node with a cut chain.
#include "core/base/sha256.h"
#include "core/history/store.h"
#include "runner/protocol/message.h"
#include "tests/cluster/delay_line.h"
#include "tests/cluster/ssh_cluster.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <random>
#include <thread>

namespace fourfold::test {
namespace {

using NodeFaults = SshCluster;

// An event of 800 kB takes 6.5 s, longer than a silent line is believed in: what trickles in is no silence.
TEST_F(NodeFaults, ALineOfOneMegabitIsSlowAndNotDead)
{
    make(1);
    ASSERT_TRUE(launch(asked(2, {{"FAKE_STEPS", "1"}}), observer, {})) << "the files are there now";
    ASSERT_TRUE(net->shape(1, 1)) << "tc cannot limit the line";
    observer = {};
    const auto result = launch(
        asked(2, {{"FAKE_STEPS", "50"}, {"FAKE_STEP_MS", "10"}, {"FAKE_EVENT_BYTES", "800000"}}), observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok) << (result->problem ? result->problem->line() : "");
    expect_whole(observer.events, "ok");
    EXPECT_EQ(steps_of(observer.events).size(), 50u);
    expect_same(*result, "events.jsonl", "events.jsonl");
    for (const std::string& link : observer.links)
        EXPECT_FALSE(link.starts_with("reconnecting")) << link;
}

// 50 ms each way, as across an ocean.
TEST_F(NodeFaults, AFarNodeIsFollowedLikeANearOne)
{
    make(1);
    const DelayLine line({"", "10.231.78.100/24"}, {net->node(1), "10.231.78.1/24"}, 50, 20);
    if (!line.good())
        GTEST_SKIP() << "a line with a delay needs the right to use /dev/net/tun";
    Sshd far(home, "far", {"10.231.78.1", 22, net->node(1)});
    nodes[0]->stop();
    far.start();
    RunRequest out = asked(2, {{"FAKE_STEPS", "100"}, {"FAKE_STEP_MS", "10"}, {"FAKE_EVENT_BYTES", "200000"}});
    out.target = ssh_target(home, {&far});
    const auto result = launch(out, observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok) << (result->problem ? result->problem->line() : "");
    expect_whole(observer.events, "ok");
    EXPECT_EQ(steps_of(observer.events).size(), 100u);
    expect_same(*result, "events.jsonl", "events.jsonl");
}

// The cable is dead and every process of the node with it; then it boots again.
TEST_F(NodeFaults, ANodeThatLosesItsPowerEndsTheRunWhenItIsBack)
{
    const auto boot_id = home.path() / "boot_id";
    std::ofstream(boot_id) << "11111111-1111-1111-1111-111111111111\n";
    make(2, [&](int node, SshdPlace& place) { place.boot_id_file = node == 2 ? boot_id.string() : ""; });
    std::atomic<bool> over = false;
    std::jthread power;
    observer.each_event = [&](const Json& event) {
        if (integer_field(event, "step") != 20)
            return;
        power = std::jthread([this, boot_id, &over] {
            net->cut(2);
            nodes[1]->stop();
            std::this_thread::sleep_for(std::chrono::seconds(1));
            std::ofstream(boot_id) << "22222222-2222-2222-2222-222222222222\n";
            net->heal(2);
            nodes[1]->start();
            // The server dies with the thread that started it.
            EXPECT_TRUE(wait_until([&] { return over.load(); }, 60));
        });
    };
    const auto result = launch(asked(4, {{"FAKE_STEPS", "100000"}, {"FAKE_STEP_MS", "20"}}), observer, {});
    over = true;
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::lost);
    ASSERT_TRUE(result->problem);
    EXPECT_NE(result->problem->line().find("was restarted while the run was going"), std::string::npos)
        << result->problem->line();
    EXPECT_EQ(processes_of(result->id), 0) << "the other node's ranks were stopped";
    expect_whole(observer.events, "lost");
    expect_same(*result, "events.jsonl", "events.jsonl");
    expect_same(*result, "events.node1.jsonl", "node1/events.jsonl");
}

// Three nodes with disks of their own.
class ChainOfNodes : public SshCluster {
protected:
    void SetUp() override
    {
        SshCluster::SetUp();
        if (IsSkipped())
            return;
        make(3, [](int, SshdPlace& place) { place.own_disk = true; });
        ASSERT_TRUE(launch(asked(3, {{"FAKE_STEPS", "1"}}), observer, {})) << "agents and programs are there now";
        observer = {};
        observer.trust = true;
        std::mt19937 random(5);
        std::string content(kBytes, '\0');
        for (char& c : content)
            c = static_cast<char>(random());
        std::ofstream(home.path() / "corpus.txt", std::ios::binary) << content;
        hash = sha256_hex(content);
    }
    void run(const std::string& upload)
    {
        RunRequest request = asked(3, {{"FAKE_STEPS", "3"}});
        request.target.upload = upload;
        const auto result = launch(request, observer, {});
        ASSERT_TRUE(result) << result.error().line();
        EXPECT_EQ(result->state, RunState::ok);
        for (const auto& node : nodes) {
            const auto stored = sha256_file(node->disk() / "store" / hash);
            EXPECT_TRUE(stored && *stored == hash) << node->disk();
        }
    }
    [[nodiscard]] bool chained() const
    {
        return std::any_of(observer.staged.begin(), observer.staged.end(),
            [](const std::string& text) { return text.starts_with("chain of 3 hosts"); });
    }
    static constexpr std::size_t kBytes = 12u << 20;
    std::string hash;
};

TEST_F(ChainOfNodes, TheClientSendsOnceWhatAllNodesGet)
{
    const uint64_t before = net->bytes_to(0);
    run("chain");
    EXPECT_TRUE(chained());
    EXPECT_LT(net->bytes_to(0) - before, kBytes * 3 / 2);
}

TEST_F(ChainOfNodes, ASmallUploadGoesToEachNode)
{
    const uint64_t before = net->bytes_to(0);
    run("auto");
    EXPECT_FALSE(chained()) << "not worth it below 64 MiB";
    EXPECT_GT(net->bytes_to(0) - before, kBytes * 3);
}

// The second node's line dies in the middle and comes back: the nodes behind it get their files all the same.
TEST_F(ChainOfNodes, ACutChainIsMended)
{
    for (int i = 1; i <= 3; ++i)
        ASSERT_TRUE(net->shape(i, 80)); // 1.3 s for the file
    std::jthread cutter([this] {
        if (!wait_until([&] { return std::filesystem::exists(nodes[2]->disk() / "store" / (hash + ".part")); }))
            return;
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        net->cut(2);
        std::this_thread::sleep_for(std::chrono::seconds(2));
        net->heal(2);
    });
    run("chain");
}

} // namespace
} // namespace fourfold::test
