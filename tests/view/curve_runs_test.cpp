// SPDX-License-Identifier: GPL-3.0-or-later
// Runs of the history that are read beside their owner, who goes on choosing and hears of new steps meanwhile.
#include "app/view/curves/curve_runs.h"
#include "tests/history/history_test_support.h"

#include <condition_variable>
#include <mutex>

namespace fourfold::view {
namespace {

class CurveRunsTest : public testing::Test {
protected:
    CurveRunsTest()
        : store(test::open_store(folder / "history.db"))
        , runs(folder / "history.db", [this] {
            const std::lock_guard lock(mutex);
            ++woken;
            changed.notify_all();
        })
    {
    }
    // A run of this history with so many steps.
    RunSummary stored(const std::string& id, int steps)
    {
        test::must(store.create_run(test::sample_run(id)));
        add_steps(id, 1, steps);
        return summary(id);
    }
    void add_steps(const std::string& id, int first, int last)
    {
        std::vector<std::string> lines;
        for (int step = first; step <= last; ++step)
            lines.push_back(test::step_line(step - 1, step));
        test::must(store.append_events(id, "events", lines));
    }
    RunSummary summary(const std::string& id) { return test::must(store.show(id)).summary; }
    // Waits until what is being read is there, without taking it.
    void wait()
    {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return woken > taken; });
        taken = woken;
    }
    [[nodiscard]] std::string deliver()
    {
        std::string problem;
        EXPECT_TRUE(runs.deliver(problem));
        return problem;
    }
    static Json event(int step) { return Json::parse(test::step_line(step, step)); }

    test::TemporaryFolder folder;
    HistoryStore store;
    std::mutex mutex;
    std::condition_variable changed;
    int woken = 0, taken = 0;
    CurveRuns runs;
};

TEST_F(CurveRunsTest, StepsThatComeWhileARunIsReadStay)
{
    runs.choose({stored("01RUN", 3)});
    EXPECT_FALSE(runs.append("01RUN", event(4))); // it is not read yet
    runs.read();
    wait();
    runs.append("01RUN", event(5));
    EXPECT_EQ(deliver(), "");
    EXPECT_EQ(runs.curves().steps_of("01RUN"), 5u);
    EXPECT_TRUE(runs.append("01RUN", event(6)));
    EXPECT_EQ(runs.curves().steps_of("01RUN"), 6u);
}

// What is read for an old choice does not stand for what the new one knows of.
TEST_F(CurveRunsTest, AnOldAnswerIsNotTheNewOne)
{
    const RunSummary first = stored("01RUN", 3);
    runs.choose({first});
    runs.read();
    wait();
    add_steps("01RUN", 4, 8);
    runs.choose({summary("01RUN")});
    EXPECT_EQ(deliver(), "");
    EXPECT_EQ(runs.curves().steps_of("01RUN"), 3u);
    runs.read();
    ASSERT_TRUE(runs.is_reading()) << "the further steps are lacking";
    wait();
    EXPECT_EQ(deliver(), "");
    EXPECT_EQ(runs.curves().steps_of("01RUN"), 8u);
}

TEST_F(CurveRunsTest, NobodyAsksForWhatIsNotChosenAnyMore)
{
    RunSummary gone;
    gone.id = "01GONE";
    gone.steps = 1;
    runs.choose({gone});
    runs.read();
    wait();
    runs.choose({stored("01RUN", 3)});
    EXPECT_EQ(deliver(), "") << "why the old one cannot be read is nothing to tell";
    EXPECT_EQ(runs.curves().count(), 0u);
}

} // namespace
} // namespace fourfold::view
