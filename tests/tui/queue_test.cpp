// SPDX-License-Identifier: GPL-3.0-or-later
// The queue of runs at a terminal: other programs' from the first moment on, and seen here all the same; nodes that are
// saved as a cluster.
#include "runner/queue/run_queue.h"
#include "tests/leftover_processes.h"
#include "tests/tui/tui_fixture.h"

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;

class TuiQueue : public Tui {
protected:
    ~TuiQueue() override { end_processes_of(folder_.path()); } // no run stays where a test failed
    [[nodiscard]] RunQueue queue() const { return RunQueue(folder_ / "data/fourfold/queue"); }
    [[nodiscard]] QueueContents queued() const
    {
        const Expected<QueueContents> contents = queue().read();
        EXPECT_TRUE(contents) << contents.error().line();
        return contents ? *contents : QueueContents();
    }
    [[nodiscard]] std::vector<std::int64_t> order() const
    {
        std::vector<std::int64_t> numbers;
        for (const QueuedRun& run : queued().runs)
            numbers.push_back(run.number);
        return numbers;
    }
    // Paused, so that nothing starts: two that wait and one that could not start.
    void put_queue() const
    {
        ASSERT_TRUE(queue().change([](QueueContents& contents) -> Expected<void> {
            contents.paused = true;
            contents.last_number = 3;
            for (int i = 1; i <= 3; ++i) {
                QueuedRun run;
                run.number = i;
                run.added = "2026-01-0" + std::to_string(i) + "T12:34:56.789Z";
                run.plan = {{"name", i == 2 ? "Another plan" : "Sixteen"}, {"gpus", 16}};
                run.target.id = "local";
                if (i != 2)
                    run.steps = 100;
                if (i == 3) {
                    run.state = TurnState::ended;
                    run.outcome = "not started";
                    run.problem = "node-b: the host key is not known: let `fourfold probe --target ours` store it";
                }
                contents.runs.push_back(std::move(run));
            }
            return {};
        }));
    }
};

TEST_F(TuiQueue, ScreensAreAsTheyWere)
{
    put_queue();
    for (const ScreenSize& size : kScreenSizes) {
        forget_session();
        TerminalProgram program(fixed(), options(size));
        ASSERT_TRUE(program.shows("Fits."));
        program.type("4");
        ASSERT_TRUE(program.shows("Queue: paused: 2 runs wait")) << program.grid().text();
        program.type("QG");
        ASSERT_TRUE(program.shows("the host key is not known")) << program.grid().text();
        expect_golden("queue-" + size.name(), shown(program, size));
    }
}

TEST_F(TuiQueue, MovesRemovesAndClears)
{
    put_queue();
    TerminalProgram program(fixed(), options());
    ASSERT_TRUE(program.shows("Fits."));
    program.type("4Q");
    ASSERT_TRUE(program.shows("Queue of runs")) << program.grid().text();
    program.type("j<");
    program.settle();
    EXPECT_THAT(order(), ::testing::ElementsAre(2, 1, 3));
    program.type(">"); // the same one: it stays chosen
    program.settle();
    EXPECT_THAT(order(), ::testing::ElementsAre(1, 3, 2)) << "behind all, also behind what has ended";
    program.type("\r");
    ASSERT_TRUE(program.shows("it has no run yet")) << program.grid().text();
    program.type("D");
    ASSERT_TRUE(program.shows("paused: 1 run waits")) << program.grid().text();
    EXPECT_THAT(order(), ::testing::ElementsAre(1, 3));
    program.type("c");
    ASSERT_TRUE(program.hides("not started")) << program.grid().text();
    EXPECT_THAT(order(), ::testing::ElementsAre(1));
    const std::filesystem::path file = folder_ / "queue.csv";
    program.type("e\x15" + file.string() + "\r");
    ASSERT_TRUE(program.shows("Wrote " + file.string())) << program.grid().text();
    EXPECT_THAT(*read_text_file(file), HasSubstr("1,waiting,Sixteen,16,local,100"));
    program.type("\033");
    ASSERT_TRUE(program.hides("Queue of runs"));
    // Another program adds one meanwhile: it is told without a key.
    ASSERT_TRUE(queue().change([](QueueContents& contents) -> Expected<void> {
        QueuedRun run = contents.runs.front();
        run.number = ++contents.last_number;
        contents.runs.push_back(std::move(run));
        return {};
    }));
    program.type("4"); // what was written is told no longer
    EXPECT_TRUE(program.shows("Queue: paused: 2 runs wait")) << program.grid().text();
}

TEST_F(TuiQueue, ADamagedQueueIsALine)
{
    std::filesystem::create_directories(queue().folder());
    std::ofstream(queue().folder() / "queue.json") << "{nothing";
    TerminalProgram program(fixed(), options());
    ASSERT_TRUE(program.shows("Fits."));
    program.type("4Q");
    ASSERT_TRUE(program.shows("queue.json")) << program.grid().text();
    program.type("p");
    EXPECT_TRUE(program.shows("queue.json")) << program.grid().text();
    EXPECT_EQ(*read_text_file(queue().folder() / "queue.json"), "{nothing");
}

TEST_F(TuiQueue, RunsAreAddedAndGoOnByThemselves)
{
    TerminalProgram program(faked({"tui", put_tiny_plan(folder_.path(), 150, 20).string()}), options(40, 120));
    ASSERT_TRUE(program.shows("Tensor (TP)")) << program.grid().text();
    program.type("4Qp");
    ASSERT_TRUE(program.shows("paused: 0 runs wait")) << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("Queue of runs"));
    program.type("a");
    ASSERT_TRUE(program.shows("Run 1 of the queue")) << program.grid().text();
    program.type("s");
    ASSERT_TRUE(program.shows("add it to the queue")) << program.grid().text();
    program.type("a");
    ASSERT_TRUE(program.shows("Run 2 of the queue")) << program.grid().text();
    EXPECT_THAT(order(), ::testing::ElementsAre(1, 2));
    program.type("Qp");
    ASSERT_TRUE(program.shows("running", std::chrono::seconds(40))) << program.grid().text();
    program.type("jD"); // the other waits for the same host
    ASSERT_TRUE(program.shows("0 runs wait")) << program.grid().text();
    program.type("\r");
    ASSERT_TRUE(program.shows("after 150 steps", std::chrono::seconds(60))) << program.grid().text();
    program.type("Q");
    ASSERT_TRUE(program.shows(" ok ", std::chrono::seconds(20))) << program.grid().text();
    program.type("c");
    ASSERT_TRUE(program.shows("Nothing waits.")) << program.grid().text();
    program.type("\033q");
    EXPECT_EQ(program.wait(), 0);
    for (int i = 0; queue().has_giver() && i < 400; ++i)
        ::usleep(50'000);
    EXPECT_FALSE(queue().has_giver());
}

// In lines: by the numbers that are read out.
TEST_F(TuiQueue, IsReadOutAndChangedInLines)
{
    put_queue();
    TerminalProgram::Options dumb = options(24, 200);
    dumb.environment["TERM"] = "dumb";
    TerminalProgram program(real({"tui", plan().string()}), dumb);
    ASSERT_TRUE(program.shows("At ")) << program.bytes();
    program.type("4\nQ\n");
    ASSERT_TRUE(program.shows("esc leaves")) << program.bytes();
    EXPECT_THAT(program.bytes(), HasSubstr("Queue of runs: paused: 2 runs wait"));
    program.type("earlier 2\n");
    for (int i = 0; order().front() != 2 && i < 200; ++i)
        program.read_some(std::chrono::milliseconds(50));
    EXPECT_THAT(order(), ::testing::ElementsAre(2, 1, 3));
    program.type("remove 7\n");
    ASSERT_TRUE(program.shows("no run of that number")) << program.bytes();
    program.type("clear\nesc\nq\n");
    EXPECT_EQ(program.wait(), 0) << program.bytes();
    EXPECT_THAT(order(), ::testing::ElementsAre(2, 1));
}

TEST_F(TuiQueue, NodesThatWereLookedAtAreSavedAsACluster)
{
    TerminalProgram program(faked({"tui", put_tiny_plan(folder_.path(), 5, 20).string()}), options(40, 120));
    ASSERT_TRUE(program.shows("Tensor (TP)")) << program.grid().text();
    program.type("4c");
    ASSERT_TRUE(program.shows("glibc", std::chrono::seconds(40))) << program.grid().text();
    program.type("s");
    ASSERT_TRUE(program.shows("Save the nodes as a cluster")) << program.grid().text();
    program.type("\x15no such name!\r");
    ASSERT_TRUE(program.shows("is not usable")) << program.grid().text();
    program.type("\x15ours\r");
    ASSERT_TRUE(program.shows("as measured")) << program.grid().text();
    program.type("\r");
    ASSERT_TRUE(program.shows("are saved as cluster ours", std::chrono::seconds(90))) << program.grid().text();
    program.type("y");
    ASSERT_TRUE(program.shows("Cluster ours; u takes it back")) << program.grid().text();
    const Expected<Json> cluster = read_json_file(folder_ / "config/fourfold/presets/clusters/ours.json");
    ASSERT_TRUE(cluster) << cluster.error().line();
    EXPECT_GT((*cluster)["gpu"]["memory_bandwidth_gb_s"].get<double>(), 0);
}

} // namespace
} // namespace fourfold::test
