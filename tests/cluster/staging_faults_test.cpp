// SPDX-License-Identifier: GPL-3.0-or-later
// What happens while files are on their way to nodes: cables that are pulled, a client that falls asleep.
#include "core/base/sha256.h"
#include "tests/cluster/ssh_cluster.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <random>
#include <stop_token>
#include <thread>

namespace fourfold::test {
namespace {

// Nodes with disks of their own that have everything but one file, over lines on which it takes seconds.
class StagingFaults : public SshCluster {
protected:
    void make_nodes(int count)
    {
        make(count, [](int, SshdPlace& place) { place.own_disk = true; });
        ASSERT_TRUE(launch(asked(count, {{"FAKE_STEPS", "1"}}), observer, {})) << "agents and programs are there now";
        forget();
        std::mt19937 random(5);
        std::string content(kBytes, '\0');
        for (char& c : content)
            c = static_cast<char>(random());
        std::ofstream(home.path() / "corpus.txt", std::ios::binary) << content;
        hash = sha256_hex(content);
        for (int i = 1; i <= count; ++i)
            ASSERT_TRUE(net->shape(i, 40)) << "tc cannot limit the line"; // 5 s for the file
    }
    void forget()
    {
        observer = {};
        observer.trust = true;
    }
    [[nodiscard]] RunRequest wanted(const std::string& upload) const
    {
        RunRequest out = asked(static_cast<int>(nodes.size()), {{"FAKE_STEPS", "3"}});
        out.target.upload = upload;
        out.target.connect_timeout_s = 2;
        return out;
    }
    // Waits until a third of the file, and no more than two, is on a node.
    [[nodiscard]] bool on_its_way_to(std::size_t node) const
    {
        const auto part = nodes[node]->disk() / "store" / (hash + ".part");
        return wait_until([&] {
            std::error_code error;
            const auto size = std::filesystem::file_size(part, error);
            return !error && size > kBytes / 3;
        }) && std::filesystem::exists(part)
            && std::filesystem::file_size(part) < kBytes * 2 / 3;
    }
    void expect_stored() const
    {
        for (const auto& node : nodes) {
            const auto stored = sha256_file(node->disk() / "store" / hash);
            EXPECT_TRUE(stored && *stored == hash) << node->disk();
            EXPECT_FALSE(std::filesystem::exists(node->disk() / "store" / (hash + ".part"))) << node->disk();
        }
    }
    [[nodiscard]] bool was_told(const std::string& text) const
    {
        return std::any_of(observer.texts.begin(), observer.texts.end(),
            [&](const std::string& told) { return told.find(text) != std::string::npos; });
    }
    // Launches it while `faults` happen; at most two minutes.
    Expected<RunResult> launch_with(const RunRequest& request, const std::function<void()>& faults)
    {
        std::stop_source stop;
        const std::jthread faulty(faults);
        const std::jthread watchdog([&stop](const std::stop_token& over) {
            for (int i = 0; i < 1200 && !over.stop_requested(); ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
            stop.request_stop();
        });
        return launch(request, observer, stop.get_token());
    }
    static constexpr std::size_t kBytes = 24u << 20;
    std::string hash;
};

// Both cables at once, as of a laptop that leaves the network: also the node that had all its files already is reached
// again.
TEST_F(StagingFaults, ACutOfAllNodesIsOutlivedWhereverEachOfThemWas)
{
    make_nodes(2);
    const uint64_t before = net->bytes_to(1);
    const auto store = nodes[1]->disk() / "store";
    std::filesystem::copy_file(home.path() / "corpus.txt", store / hash);
    const auto result = launch_with(wanted("parallel"), [this] {
        EXPECT_TRUE(on_its_way_to(0));
        net->cut(1);
        net->cut(2);
        std::this_thread::sleep_for(std::chrono::seconds(16));
        net->heal(1);
        net->heal(2);
    });
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok) << (result->problem ? result->problem->line() : "");
    for (int i = 1; i <= 2; ++i) {
        EXPECT_TRUE(had_link("reconnecting", i)) << i;
        EXPECT_TRUE(had_link("connected", i)) << i;
    }
    EXPECT_TRUE(was_told("tries again for 300 s"));
    EXPECT_LT(net->bytes_to(1) - before, kBytes * 4 / 3) << "it goes on where it was";
    expect_stored();
}

TEST_F(StagingFaults, ACutOfTheFirstNodeOfAChain)
{
    make_nodes(3);
    const uint64_t before = net->bytes_to(0);
    const auto result = launch_with(wanted("chain"), [this] {
        EXPECT_TRUE(on_its_way_to(0));
        net->cut(1);
        std::this_thread::sleep_for(std::chrono::seconds(14));
        net->heal(1);
    });
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok) << (result->problem ? result->problem->line() : "");
    EXPECT_TRUE(had_link("reconnecting", 1));
    // The first node may have handed on less than it had: the rest goes to all of them once more.
    EXPECT_LT(net->bytes_to(0) - before, kBytes * 5 / 2);
    expect_stored();
}

// A cut that lasts: the command ends in time and says why; what had arrived is kept for the next one.
TEST_F(StagingFaults, ACutThatLasts)
{
    make_nodes(1);
    RunRequest request = wanted("parallel");
    request.target.reconnect_s = 3;
    const auto result = launch_with(request, [this] {
        EXPECT_TRUE(on_its_way_to(0));
        net->cut(1);
    });
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ProblemCode::network) << result.error().line();
    EXPECT_NE(result.error().line().find(net->address(1)), std::string::npos) << result.error().line();
    EXPECT_FALSE(result.error().message.ends_with(": ")) << result.error().message;
    net->heal(1);
    forget();
    const uint64_t before = net->bytes_to(1);
    const auto again = launch_with(wanted("parallel"), [] {});
    ASSERT_TRUE(again) << again.error().line();
    EXPECT_EQ(again->state, RunState::ok);
    EXPECT_LT(net->bytes_to(1) - before, kBytes) << "it goes on where it was";
    expect_stored();
}

// The network is well, and the host's server hangs: the reason has words.
TEST_F(StagingFaults, AServerThatTakesNothingAnyMore)
{
    make_nodes(1);
    const uint64_t before = net->bytes_to(1);
    const auto result = launch_with(wanted("parallel"), [this] {
        EXPECT_TRUE(on_its_way_to(0));
        nodes[0]->freeze_connections();
    });
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok) << (result->problem ? result->problem->line() : "");
    EXPECT_TRUE(was_told("sending failed: "));
    EXPECT_FALSE(was_told("sending failed: ;")) << "without a reason";
    EXPECT_LT(net->bytes_to(1) - before, kBytes * 4 / 3) << "it goes on where it was";
    expect_stored();
}

// The first client is a laptop that falls asleep while it sends; a second one needs the same file.
TEST_F(StagingFaults, AClientThatSleepsWhileItSendsKeepsNobodyWaiting)
{
    make_nodes(1);
    ClientProcess sleeper(wanted("parallel"), [](Recording& mine) { mine.trust = true; });
    ASSERT_FALSE(sleeper.id().empty());
    ASSERT_TRUE(on_its_way_to(0));
    sleeper.signal(SIGSTOP);
    const uint64_t before = net->bytes_to(1);
    const auto result = launch_with(wanted("parallel"), [] {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok) << (result->problem ? result->problem->line() : "");
    EXPECT_TRUE(was_told("waits for data/0/corpus.txt"));
    EXPECT_TRUE(was_told("a session from 10.231.77.100"));
    EXPECT_TRUE(was_told("goes on with"));
    EXPECT_LT(net->bytes_to(1) - before, kBytes) << "what the first one had sent is kept";
    expect_stored();
    sleeper.signal(SIGCONT);
    EXPECT_EQ(sleeper.end(), 0) << "it finds the file there";
    expect_stored();
}

} // namespace
} // namespace fourfold::test
