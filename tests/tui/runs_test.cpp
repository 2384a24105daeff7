// SPDX-License-Identifier: GPL-3.0-or-later
// Runs and History in a terminal: a history that is stored, runs with the real launcher and agent and a trainer that
// trains nothing, the terminal that is closed meanwhile.
#include "core/history/annotations.h"
#include "core/history/store.h"
#include "core/schedule/chrome_trace.h"
#include "tests/fake_slurm.h"
#include "tests/history/history_test_support.h"
#include "tests/leftover_processes.h"
#include "tests/tui/tui_fixture.h"

#include <fcntl.h>
#include <unistd.h>

#include <regex>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;

class TuiRuns : public Tui {
protected:
    ~TuiRuns() override { end_processes_of(folder_.path()); } // no run stays where a test failed
    [[nodiscard]] std::filesystem::path history() const { return folder_ / "data/fourfold/history.db"; }
    // Three runs: one that went well with figures, one out of memory, one that somebody stopped.
    void store_runs() const
    {
        std::filesystem::create_directories(history().parent_path());
        HistoryStore store = open_store(history());
        for (const auto& [id, name, tps] : {std::tuple{"01J0000000000000000000000A", "first", 100.0},
                 std::tuple{"01J0000000000000000000000B", "second", 120.0},
                 std::tuple{"01J0000000000000000000000C", "third", 90.0}}) {
            NewRun run = sample_run(id);
            run.name = name;
            must(store.create_run(run));
            std::vector<std::string> lines;
            for (int step = 1; step <= 10; ++step)
                lines.push_back(step_line(step - 1, step, tps, 3 - 0.1 * step));
            must(store.append_events(id, "events", lines));
        }
        must(store.set_state("01J0000000000000000000000A", RunState::ok));
        must(store.set_state("01J0000000000000000000000B", RunState::oom, "rank 1 on node-b: out of memory"));
        must(store.set_state("01J0000000000000000000000C", RunState::cancelled));
        must(set_tags(store, "01J0000000000000000000000A", {"paper"}));
    }
    [[nodiscard]] std::string tiny(int steps, int ms, const std::string& more = "") const
    {
        return put_tiny_plan(folder_.path(), steps, ms, more).string();
    }
    [[nodiscard]] std::vector<RunSummary> stored() const
    {
        const auto store = HistoryStore::open(history(), StoreMode::read_only);
        return store ? must(store->list()) : std::vector<RunSummary>();
    }
    bool ends_as(RunState state) const
    {
        for (int i = 0; i < 400; ++i, ::usleep(50'000)) {
            if (const auto runs = stored(); !runs.empty() && runs.front().state == state)
                return true;
        }
        return false;
    }
};

// Without what is another every time.
std::string steady(std::string text)
{
    return std::regex_replace(text, std::regex("20[0-9]{2}-[0-9]{2}-[^ \n]*( [0-9]{2}:[0-9]{2})?"), "DATE");
}

TEST_F(TuiRuns, HistoryScreensAreAsTheyWere)
{
    store_runs();
    for (const ScreenSize& size : kScreenSizes) {
        forget_session();
        TerminalProgram program(fixed(), options(size));
        ASSERT_TRUE(program.shows("Fits."));
        program.type("5");
        ASSERT_TRUE(program.shows("3 of 3 runs")) << program.grid().text();
        expect_golden("history-" + size.name(), steady(shown(program, size)));
        program.type("4");
        ASSERT_TRUE(program.shows("s start")) << program.grid().text();
        expect_golden("runs-" + size.name(), shown(program, size));
    }
}

TEST_F(TuiRuns, HistoryFiltersEditsAndComparesWhatIsStored)
{
    store_runs();
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("5/state = \"oom\"\r");
    ASSERT_TRUE(program.shows("1 of 3 runs")) << program.grid().text();
    program.type("\r");
    ASSERT_TRUE(program.shows("out of memory")) << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("Esc closes"));
    program.type("tslow, again\r");
    ASSERT_TRUE(program.shows("u takes it back")) << program.grid().text();
    EXPECT_THAT(stored()[1].tags, ::testing::ElementsAre("again", "slow"));
    program.type("u");
    ASSERT_TRUE(program.shows("Taken back"));
    EXPECT_TRUE(stored()[1].tags.empty());
    program.type("Dy");
    ASSERT_TRUE(program.shows("0 of 2 runs")) << program.grid().text();
    program.type("u");
    ASSERT_TRUE(program.shows("1 of 3 runs")) << program.grid().text();
}

TEST_F(TuiRuns, FindsAClusterAndPlansOnIt)
{
    TerminalProgram::Options with = options(40, 120);
    with.environment["PATH"] = fakes::put_fake_slurm(folder_ / "tools").string() + ":/usr/bin:/bin";
    TerminalProgram program(faked({"tui", plan().string()}), with);
    ASSERT_TRUE(program.shows("GiB"));
    program.type("4F");
    ASSERT_TRUE(program.shows("Find a cluster")) << program.grid().text();
    program.type("-x\r\r\r\r");
    ASSERT_TRUE(program.shows("is not a host name")) << program.grid().text();
    program.type("\x15"
                 "local\r\r\r\r");
    ASSERT_TRUE(program.shows("Partition gpu: 3 of 4 nodes up")) << program.grid().text();
    ASSERT_TRUE(program.shows("Save it and plan on it"));
    program.type("\t\t\t\t\t\x15our-slurm\r\r\x15"
                 "2\t\t\t\t\t\t\r");
    ASSERT_TRUE(program.shows("Saved as our-slurm")) << program.grid().text();
    ASSERT_TRUE(program.shows("on our-slurm  n for")) << program.grid().text();
    const Expected<Json> target = read_json_file(folder_ / "config/fourfold/presets/targets/our-slurm.json");
    ASSERT_TRUE(target);
    EXPECT_EQ((*target)["slurm"]["partition"], "gpu");
    EXPECT_EQ((*target)["slurm"]["gres"], "gpu:a100:8");
}

TEST_F(TuiRuns, StartsARunShowsItAndFindsItInTheHistory)
{
    TerminalProgram program(faked({"tui", tiny(30, 20)}), options(40, 120));
    ASSERT_TRUE(program.shows("Tensor (TP)")) << program.grid().text();
    program.type("4s");
    ASSERT_TRUE(program.shows("Start a run")) << program.grid().text();
    EXPECT_TRUE(program.shows("this computer"));
    program.type("y");
    ASSERT_TRUE(program.shows("Running")) << program.grid().text();
    ASSERT_TRUE(program.shows("Done", std::chrono::seconds(40))) << program.grid().text();
    EXPECT_TRUE(program.shows("after 30 steps")) << program.grid().text();
    EXPECT_TRUE(program.asks_for("9;Run ended: Done: tiny.plan.json: ")) << "a message of the terminal";
    EXPECT_TRUE(program.asks_for("777;notify;Run ended: Done;tiny.plan.json: "));
    EXPECT_EQ(program.grid().bells(), 1);
    EXPECT_THAT(program.grid().row(3), HasSubstr("Done           after 30 steps"));
    const auto write = [&](const std::string& name, const std::string& begin) {
        const std::filesystem::path file = folder_ / name;
        program.type("\x15" + file.string() + "\r");
        EXPECT_TRUE(program.hides("Export ")) << program.grid().text(); // "Wrote" may be of the file before
        EXPECT_TRUE(program.shows("Wrote ")) << program.grid().text();
        EXPECT_THAT(must(read_text_file(file)), ::testing::StartsWith(begin));
    };
    for (const auto& [name, begin] :
        {std::pair{"loss.svg", "<?xml"}, std::pair{"loss.csv", "step,series,value\r\n1,Measured,"}}) {
        program.type("eloss\r");
        ASSERT_TRUE(program.shows("Export loss")) << program.grid().text();
        write(name, begin);
    }
    program.type("5");
    ASSERT_TRUE(program.shows("1 of 1 run")) << program.grid().text();
    EXPECT_TRUE(program.shows("Done"));
    program.type("e");
    ASSERT_TRUE(program.shows("Export runs")) << program.grid().text();
    write("scatter.pdf", "%PDF-");
    program.type("q");
    EXPECT_EQ(program.wait(), 0);
    EXPECT_EQ(stored().front().state, RunState::ok);
}

// What was traced stands beside what was predicted; a step is read off all charts at once.
TEST_F(TuiRuns, ATracedStepAndTheChartsAreLookedAt)
{
    TerminalProgram program(faked({"tui", tiny(10, 20, R"(, "FAKE_TRACE": "1")")}), options(40, 120));
    ASSERT_TRUE(program.shows("Tensor (TP)")) << program.grid().text();
    program.type("4v");
    ASSERT_TRUE(program.shows("No step of this run was traced yet")) << program.grid().text();
    program.type("sy");
    ASSERT_TRUE(program.shows("after 10 steps", std::chrono::seconds(40))) << program.grid().text();
    program.type("hhh"); // from the last one back
    ASSERT_TRUE(program.shows("step 8: 1,001")) << "1000 + 8 % 7\n" << program.grid().text();
    EXPECT_TRUE(program.shows("step 8: 0.625")) << "5 / 8\n" << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("step 8: ")) << program.grid().text();
    EXPECT_TRUE(program.shows("slowest: rank 0")) << program.grid().text();
    program.type("v");
    ASSERT_TRUE(program.shows("measured, step 10")) << program.grid().text();
    ASSERT_TRUE(program.shows("as planned")) << program.grid().text();
    EXPECT_TRUE(program.shows("\u2192 6.00 ms")) << program.grid().text();
    program.type("T");
    ASSERT_TRUE(program.shows("DIFFERENCE ms")) << "by part\n" << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("DIFFERENCE ms"));
    program.type("\033");
    ASSERT_TRUE(program.hides("measured, step 10"));
    program.type("T");
    ASSERT_TRUE(program.shows("Curves of the run")) << program.grid().text();
}

// r does the last one again; from the history a stored one's plan is opened, and run where it ran.
TEST_F(TuiRuns, ARunIsDoneAgain)
{
    TerminalProgram program(faked({"tui", tiny(5, 20)}), options(40, 120));
    ASSERT_TRUE(program.shows("Tensor (TP)"));
    program.type("4r");
    ASSERT_TRUE(program.shows("Nothing was started here yet")) << program.grid().text();
    program.type("\033[Isy"); // the terminal has the focus: nobody looks elsewhere
    ASSERT_TRUE(program.shows("after 5 steps", std::chrono::seconds(40))) << program.grid().text();
    program.settle();
    EXPECT_TRUE(program.grid().requests().empty());
    EXPECT_EQ(program.grid().bells(), 0);
    program.type("\033[O\x0b"
                 "what tells\r");
    ASSERT_TRUE(program.shows("The bell alone")) << program.grid().text();
    program.type("bell alone\r");
    ASSERT_TRUE(program.shows("Of alerts and ends of runs: the bell alone")) << program.grid().text();
    program.type("r");
    ASSERT_TRUE(program.hides("after 5 steps")) << program.grid().text();
    ASSERT_TRUE(program.shows("after 5 steps", std::chrono::seconds(40))) << program.grid().text();
    program.settle();
    EXPECT_TRUE(program.grid().requests().empty());
    EXPECT_EQ(program.grid().bells(), 1);
    program.type("5");
    ASSERT_TRUE(program.shows("2 of 2 runs")) << program.grid().text();
    program.type("P");
    ASSERT_TRUE(program.shows("The plan of Tiny")) << program.grid().text();
    program.type("again\r");
    ASSERT_TRUE(program.shows("s starts it")) << program.grid().text();
    EXPECT_TRUE(program.shows("2/2")) << "in a tab of its own";
    program.type("sy");
    ASSERT_TRUE(program.hides("after 5 steps")) << program.grid().text();
    ASSERT_TRUE(program.shows("after 5 steps", std::chrono::seconds(40))) << program.grid().text();
    EXPECT_EQ(stored().size(), 3U);
}

TEST_F(TuiRuns, AFailureHasAPageWithTheCause)
{
    TerminalProgram program(
        faked({"tui", tiny(30, 20, R"(, "FAKE_FAIL_RANK": "1", "FAKE_FAIL_STEP": "3", "FAKE_HOW": "oom")")}),
        options(40, 120));
    ASSERT_TRUE(program.shows("Tensor (TP)"));
    program.type("4sy");
    ASSERT_TRUE(program.shows("Out of memory", std::chrono::seconds(40))) << program.grid().text();
    program.type("\r");
    ASSERT_TRUE(program.shows("Rank 1")) << program.grid().text();
}

// As `fourfold run` does: what would cost many GPUs an hour is found out here.
TEST_F(TuiRuns, WhatARehearsalFoundIsNotStarted)
{
    TerminalProgram::Options told = options(40, 120);
    told.environment["FAKE_REHEARSAL"]
        = R"({"verdict": "failed", "problem": "the ranks wait for each other", "stages": []})";
    TerminalProgram program(faked({"tui", tiny(30, 20)}), told);
    ASSERT_TRUE(program.shows("Tensor (TP)"));
    program.type("4sy");
    ASSERT_TRUE(program.shows("it would not run: the ranks wait for each other")) << program.grid().text();
    EXPECT_TRUE(stored().empty());
    program.type("p");
    ASSERT_TRUE(program.shows("Not rehearsed: that it fits")) << program.grid().text();
    program.type("sy");
    ASSERT_TRUE(program.shows("Running")) << program.grid().text();
    EXPECT_EQ(stored().size(), 1U);
}

// The terminal is closed; the run goes on; the next start follows it, from the first step on, and stops it.
TEST_F(TuiRuns, ClosingTheTerminalLeavesTheRunAndComingBackFollowsIt)
{
    {
        TerminalProgram program(faked({"tui", tiny(100'000, 20)}), options(40, 120));
        ASSERT_TRUE(program.shows("Tensor (TP)"));
        program.type("4sy");
        ASSERT_TRUE(program.shows("Running")) << program.grid().text();
        program.hang_up();
        EXPECT_EQ(program.wait(), 0);
    }
    ASSERT_EQ(stored().size(), 1U);
    EXPECT_EQ(stored().front().state, RunState::running);
    TerminalProgram again(faked({"tui"}), options(40, 120));
    ASSERT_TRUE(again.shows("4 Runs"));
    // The log keeps that it caught up; the state says so no longer.
    ASSERT_TRUE(again.shows("State        Running        run ")) << again.grid().text();
    ASSERT_TRUE(again.shows("d leave")) << again.grid().text();
    EXPECT_TRUE(again.shows("Followed")) << "it was created before; " << again.grid().text();
    EXPECT_FALSE(again.grid().text().find("Created") != std::string::npos) << again.grid().text();
    ASSERT_TRUE(again.shows("vs. predicted")) << again.grid().text(); // steps of before and of now
    again.type("x");
    ASSERT_TRUE(again.shows("It ends on all of its nodes"));
    again.type("y");
    ASSERT_TRUE(again.shows("Stopped")) << again.grid().text();
    again.type("q");
    EXPECT_EQ(again.wait(), 0);
    EXPECT_TRUE(ends_as(RunState::cancelled));
}

// The curves of a run that is followed grow while they are looked at.
TEST_F(TuiRuns, CurvesGrowWithTheRun)
{
    TerminalProgram program(faked({"tui", tiny(3'000, 20)}), options(40, 120));
    ASSERT_TRUE(program.shows("Tensor (TP)"));
    program.type("4sy");
    ASSERT_TRUE(program.shows("vs. predicted")) << program.grid().text();
    program.type("5v");
    ASSERT_TRUE(program.shows("1 run over step")) << program.grid().text();
    const auto last_step = [&](const std::string& name) {
        const std::filesystem::path file = folder_ / name;
        program.type("eloss\r");
        EXPECT_TRUE(program.shows("Export loss")) << program.grid().text();
        program.type("\x15" + file.string() + "\r");
        EXPECT_TRUE(program.shows("Wrote " + file.string())) << program.grid().text();
        const std::string text = must(read_text_file(file));
        const std::size_t line = text.rfind('\n', text.size() - 2), comma = text.find(',', line);
        return comma == std::string::npos ? 0 : std::atoi(text.c_str() + comma + 1);
    };
    const int first = last_step("first.csv");
    EXPECT_GT(first, 0);
    int then = first;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (int look = 0; then < first + 50 && std::chrono::steady_clock::now() < end; ++look)
        then = last_step(std::to_string(look) + ".csv");
    EXPECT_GE(then, first + 50);
    program.type("v4x");
    ASSERT_TRUE(program.shows("It ends on all of its nodes")) << program.grid().text();
    program.type("y");
    ASSERT_TRUE(program.shows("Stopped")) << program.grid().text();
    program.type("q");
    EXPECT_EQ(program.wait(), 0);
    EXPECT_TRUE(ends_as(RunState::cancelled));
}

// A run that follows a recipe has its losses beside its own: while it goes on, and among the curves of the history.
TEST_F(TuiRuns, WhatARecipeExpectsStandsBesideTheRun)
{
    Json plan = must(read_json_file(FOURFOLD_SOURCE_DIR "/presets/plans/story-15m.plan.json"));
    plan["run"]["environment"] = {{"FAKE_STEPS", "5"}, {"FAKE_STEP_MS", "20"}};
    std::ofstream(folder_ / "stories.bin") << std::string(200'000, '\1');
    std::ofstream(folder_ / "story.plan.json") << plan;
    TerminalProgram program(faked({"tui", folder_ / "story.plan.json"}), options(40, 120));
    ASSERT_TRUE(program.shows("Tensor (TP)"));
    program.type("4sy");
    ASSERT_TRUE(program.shows("after 5 steps", std::chrono::seconds(40))) << program.grid().text();
    EXPECT_TRUE(program.shows("Loss; e: expected")) << program.grid().text();
    program.type("5v");
    ASSERT_TRUE(program.shows("1 run over step")) << program.grid().text();
    EXPECT_TRUE(program.shows("Expected: Scaling law of Kaplan")) << program.grid().text();
    program.type("q");
    EXPECT_EQ(program.wait(), 0);
}

// What a rank printed is looked at once the run is over, without what would move the cursor.
TEST_F(TuiRuns, TheOutputOfARankIsRead)
{
    TerminalProgram program(
        faked({"tui", tiny(3, 20, R"(, "FAKE_PRINT_BYTES": "5000", "FAKE_NOTE": "a note")")}), options(40, 120));
    ASSERT_TRUE(program.shows("Tensor (TP)"));
    program.type("4O");
    ASSERT_TRUE(program.shows("No output of a rank is here")) << program.grid().text();
    program.type("sy");
    ASSERT_TRUE(program.shows("after 3 steps", std::chrono::seconds(40))) << program.grid().text();
    for (const char* rank : {"0", "1"}) {
        program.type("O");
        ASSERT_TRUE(program.shows("Output of a rank")) << program.grid().text();
        program.type(std::string("Rank ") + rank + "\r");
        ASSERT_TRUE(program.shows(std::string("Output of Rank ") + rank)) << program.grid().text();
        ASSERT_TRUE(program.shows("the last words")) << program.grid().text(); // what it said last is wanted first
        program.type("g");
        EXPECT_TRUE(program.shows(std::string("rank ") + rank + " of 2 on 127.0.0.1, a note")) << program.grid().text();
        EXPECT_THAT(program.bytes(), ::testing::Not(HasSubstr("\033[31mred")));
        program.type("\033");
        ASSERT_TRUE(program.hides("Output of Rank"));
    }
}

// The first run fails, and so would one that began anew.
TEST_F(TuiRuns, ARunGoesOnFromItsCheckpoint)
{
    const std::filesystem::path saved = folder_ / "saved";
    TerminalProgram program(
        faked({"tui",
            tiny(6, 20,
                R"(, "FAKE_FAIL_RANK": "1", "FAKE_FAIL_STEP": "3", "FAKE_FAILS_UNLOADED": "1", "FAKE_CHECKPOINT": ")"
                    + (saved / "step-00000001").string() + "\"")}),
        options(40, 120));
    ASSERT_TRUE(program.shows("Tensor (TP)"));
    program.type("4sy");
    ASSERT_TRUE(program.shows("Failed", std::chrono::seconds(40))) << program.grid().text();
    ASSERT_TRUE(program.shows("s start")) << program.grid().text();
    program.type("5");
    ASSERT_TRUE(program.shows("1 of 1 run")) << program.grid().text();
    program.type("P");
    ASSERT_TRUE(program.shows("The plan of Tiny")) << program.grid().text();
    program.type("go on\r");
    ASSERT_TRUE(program.shows("s starts it")) << program.grid().text();
    const std::filesystem::path file = folder_ / "on.plan.json";
    program.type("w\x15" + file.string() + "\r");
    ASSERT_TRUE(program.shows("Saved on.plan.json")) << program.grid().text();
    const Json checkpoint = (*read_json_file(file))["run"]["checkpoint"];
    EXPECT_EQ(checkpoint["load"], saved.string());
    EXPECT_EQ(checkpoint["path"], saved.string());
    EXPECT_EQ(checkpoint["from_last_good"], true);
    program.type("sy");
    ASSERT_TRUE(program.shows("after 6 steps", std::chrono::seconds(40))) << program.grid().text();
    EXPECT_TRUE(ends_as(RunState::ok));
    EXPECT_EQ(stored().size(), 2U);
}

TEST_F(TuiRuns, TheLoadOfExpertsIsDrawnLive)
{
    TerminalProgram program(faked({"tui", tiny(4, 20, R"(, "FAKE_EXPERTS": "1")")}), options(50, 160));
    ASSERT_TRUE(program.shows("Tensor (TP)"));
    program.type("4s");
    ASSERT_TRUE(program.shows("Start a run")) << program.grid().text();
    program.type("y");
    ASSERT_TRUE(program.shows("Busiest expert, times the mean", std::chrono::seconds(40))) << program.grid().text();
    EXPECT_TRUE(program.shows("in layer 3; 2 experts")) << program.grid().text();
    EXPECT_TRUE(ends_as(RunState::ok));
}

// The step as it was rehearsed, beside the planned one.
TEST_F(TuiRuns, ShowsTheTimelineOfARehearsal)
{
    Timeline step;
    step.stages = 1;
    step.length_s = 0.003;
    step.spans = {{0, SpanKind::forward, 0, 0, 0, 0.001}, {0, SpanKind::backward, 0, 0, 0.001, 0.003}};
    const Json rehearsal{{"fourfold_rehearsal", 1}, {"ranks", 2}, {"rehearsed", 2}, {"steps", 2}, {"verdict", "ok"},
        {"fits", true}, {"deadlock", false}, {"problem", nullptr}, {"problems", Json::array()}, {"at_once", 1},
        {"step_time_s", 0.003}, {"capacity_gib", 1}, {"stages", Json::array()},
        {"timeline", chrome_trace(step, "Tiny")}};
    TerminalProgram::Options told = options(40, 120);
    told.environment["FAKE_REHEARSAL"] = rehearsal.dump();
    TerminalProgram program(faked({"tui", tiny(30, 20)}), told);
    ASSERT_TRUE(program.shows("Tensor (TP)"));
    program.type("R");
    ASSERT_TRUE(program.shows("v shows the step as rehearsed")) << program.grid().text();
    program.type("v");
    ASSERT_TRUE(program.shows("as rehearsed")) << program.grid().text();
    EXPECT_TRUE(program.shows("as planned"));
    program.type("T");
    EXPECT_TRUE(program.shows("DIFFERENCE ms")) << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("DIFFERENCE ms"));
    program.type("v");
    EXPECT_TRUE(program.shows("no rank waits for ever"));
    program.type("\033");
    EXPECT_TRUE(program.shows("Tensor (TP)"));
}

TEST_F(TuiRuns, RehearsesThePlanAndNamesTheCulprit)
{
    TerminalProgram::Options told = options(40, 120);
    told.environment["FAKE_REHEARSAL"]
        = R"({"fourfold_rehearsal": 1, "ranks": 2, "rehearsed": 2, "steps": 2, "verdict": "failed", "fits": true, "deadlock": true, "problem": "rank 1 waits", "problems": ["rank 1 waits for rank 0"], "at_once": null, "step_time_s": null, "capacity_gib": 1, "stages": []})";
    TerminalProgram program(faked({"tui", tiny(30, 20)}), told);
    ASSERT_TRUE(program.shows("Tensor (TP)"));
    program.type("R");
    ASSERT_TRUE(program.shows("ranks wait for each other for ever")) << program.grid().text();
    EXPECT_TRUE(program.shows("rank 1 waits for rank 0"));
    program.type("\033");
    ASSERT_TRUE(program.hides("Esc closes"));
    EXPECT_TRUE(program.shows("Rehearsal: Would not run"));
}

} // namespace
} // namespace fourfold::test
