// SPDX-License-Identifier: GPL-3.0-or-later
// A long stream of events over a line that is cut twice, to a client that is killed once: in the end the history, the
// client's file and the node's file are the same, byte for byte. The build says how long it is: short for every test
// run, 20,000 steps for the long ones.
#include "core/history/store.h"
#include "runner/protocol/message.h"
#include "tests/cluster/ssh_cluster.h"

#include <signal.h>

#include <chrono>
#include <fstream>
#include <thread>

namespace fourfold::test {
namespace {

constexpr int kStreamSteps = FOURFOLD_STREAM_STEPS, kCutMs = FOURFOLD_CUT_MS;

// Lines that the node has of a run, counted without reading them twice.
class LineCount {
public:
    explicit LineCount(std::filesystem::path file)
        : file_(std::move(file))
    {
    }
    int64_t now()
    {
        std::ifstream in(file_, std::ios::binary);
        in.seekg(offset_);
        char block[65536];
        while (in.read(block, sizeof block) || in.gcount() > 0) {
            const auto got = in.gcount();
            for (std::streamsize i = 0; i < got; ++i)
                lines_ += block[i] == '\n' ? 1 : 0;
            offset_ += got;
        }
        return lines_;
    }

private:
    std::filesystem::path file_;
    std::streamoff offset_ = 0;
    int64_t lines_ = 0;
};

TEST(Stream, SurvivesTwoCutsAndAKilledClientByteForByte)
{
    if (const std::string why = why_no_ssh_cluster(); !why.empty())
        GTEST_SKIP() << why;
    const Home home;
    Namespaces net(1);
    ASSERT_TRUE(net.good());
    Sshd node(home, "node1", {net.address(1), 22, net.node(1)});
    node.start();
    RunRequest asked = request(home, 2, {{"FAKE_STEPS", std::to_string(kStreamSteps)}, {"FAKE_STEP_US", "1500"}});
    asked.target = ssh_target(home, {&node});

    ClientProcess client(asked, [](Recording& observer) { observer.trust = true; });
    const std::string& id = client.id();
    ASSERT_FALSE(id.empty());
    const auto events = home.path() / "node/runs" / id / "events.jsonl";
    LineCount lines(events);
    const auto reached = [&](double part) {
        return wait_until([&] { return lines.now() > static_cast<int64_t>(part * kStreamSteps); }, 120);
    };
    ASSERT_TRUE(reached(0.15));
    net.cut(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(kCutMs));
    net.heal(1);
    ASSERT_TRUE(reached(0.5));
    client.end(SIGKILL);

    Recording later;
    later.trust = true;
    std::jthread cutter([&] {
        if (!reached(0.7))
            return;
        net.cut(1);
        std::this_thread::sleep_for(std::chrono::milliseconds(kCutMs));
        net.heal(1);
    });
    const auto result = attach(id, later, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::ok);
    const auto here = read_text_file(result->folder / "events.jsonl", 1u << 30),
               there = read_text_file(events, 1u << 30);
    ASSERT_TRUE(here && there);
    EXPECT_TRUE(*here == *there) << "the client's file differs from the node's";
    const auto store = HistoryStore::open(HistoryStore::default_file());
    ASSERT_TRUE(store);
    const auto rows = store->events(id);
    ASSERT_TRUE(rows);
    std::string joined;
    for (const std::string& row : *rows)
        joined += row + "\n";
    EXPECT_TRUE(joined == *there) << "the history differs from the node's";
    expect_whole(read_events(result->folder / "events.jsonl"), "ok");
    EXPECT_EQ(store->show(id)->summary.steps, kStreamSteps);
    EXPECT_EQ(processes_of(id), 0);
    std::printf("%lld events, %zu bytes, two cuts of %d ms and one kill -9: the same in the history, here and there\n",
        static_cast<long long>(rows->size()), there->size(), kCutMs);
}

} // namespace
} // namespace fourfold::test
