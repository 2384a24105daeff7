// SPDX-License-Identifier: GPL-3.0-or-later
// The history in a terminal: runs that are imported, marked, laid over each other, fitted to.
#include "core/history/store.h"
#include "core/history/transfer.h"
#include "core/plan/plan.h"
#include "core/plan/presets.h"
#include "core/predict/prediction.h"
#include "tests/history/history_test_support.h"
#include "tests/tui/tui_fixture.h"

#include <cmath>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTable = FOURFOLD_SOURCE_DIR "/presets/published/torchtitan_llama31_h100.csv";
constexpr const char* kIds[]{"01J0000000000000000000000A", "01J0000000000000000000000B", "01J0000000000000000000000C"};

class TuiHistory : public Tui {
protected:
    [[nodiscard]] std::filesystem::path history() const { return folder_ / "data/fourfold/history.db"; }
    [[nodiscard]] std::vector<RunSummary> stored() const
    {
        const auto store = HistoryStore::open(history(), StoreMode::read_only);
        return store ? must(store->list()) : std::vector<RunSummary>();
    }
    // Three runs of 60 steps: two repeats of a plan, one of another, all with the same prediction.
    void store_curves(const std::filesystem::path& file) const
    {
        std::filesystem::create_directories(file.parent_path());
        const ResolvedPlan plan = must(resolve(must(parse_plan(kPlan, "test")), Presets()));
        Prediction prediction;
        prediction.plan = plan;
        prediction.feasible = true;
        prediction.step_time_s = 2;
        prediction.tps_per_gpu = 110;
        prediction.interval = Interval{0.9, {1.8, 2.2}, {104, 116}, {1, 2}};
        HistoryStore store = open_store(file);
        for (int run = 0; run < 3; ++run) {
            NewRun fresh = sample_run(kIds[run]);
            fresh.name = run == 2 ? "wide" : "narrow";
            fresh.plan = to_json(plan, PresetStyle::inlined);
            fresh.plan["name"] = fresh.name;
            if (run == 2)
                fresh.plan["run"]["lr"] = 0.01;
            fresh.prediction = to_json(prediction);
            must(store.create_run(fresh));
            std::vector<std::string> lines;
            for (int step = 1; step <= 60; ++step)
                lines.push_back(step_line(step - 1, step, 98 + 8 * run + (step % 3),
                    1.5 + 0.25 * run + 3 * std::exp(-0.05 * (1 + 0.5 * run) * step)));
            must(store.append_events(fresh.id, "events", lines));
            must(store.set_state(fresh.id, RunState::ok));
        }
    }
};

// What stands behind a long path is what has to be done.
TEST_F(TuiHistory, AProblemIsReadToItsEnd)
{
    std::filesystem::create_directories(history());
    TerminalProgram program(fixed(), options(24, 60));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("5");
    EXPECT_TRUE(program.shows("away)")) << program.grid().text();
    program.type("q");
    EXPECT_EQ(program.wait(), 0);
}

TEST_F(TuiHistory, CurveScreensAreAsTheyWere)
{
    store_curves(history());
    for (const ScreenSize& size : kScreenSizes) {
        forget_session();
        TerminalProgram program(fixed(), options(size));
        ASSERT_TRUE(program.shows("Fits."));
        program.type("5");
        ASSERT_TRUE(program.shows("3 of 3 runs")) << program.grid().text();
        program.type("   v");
        ASSERT_TRUE(program.shows("3 runs over step")) << program.grid().text();
        expect_golden("curves-" + size.name(), shown(program, size));
        program.type("asspl");
        ASSERT_TRUE(program.shows("grouped by plan")) << program.grid().text();
        expect_golden("curves-grouped-" + size.name(), shown(program, size));
    }
}

TEST_F(TuiHistory, CurvesAreZoomedHiddenAndWrittenAsATable)
{
    store_curves(history());
    {
        TerminalProgram program(fixed(), options(40, 120));
        ASSERT_TRUE(program.shows("Fits."));
        program.type("5 ");
        ASSERT_TRUE(program.shows("1 marked")) << program.grid().text();
        program.type(" v");
        ASSERT_TRUE(program.shows("2 runs over step")) << program.grid().text();
        program.type("+");
        ASSERT_TRUE(program.shows("a part of the axis")) << program.grid().text();
        program.type("h");
        ASSERT_TRUE(program.shows("read at ")) << program.grid().text();
        program.type("0");
        ASSERT_TRUE(program.hides("a part of the axis"));
        program.type("b");
        ASSERT_TRUE(program.shows("Figures"));
        program.type("thr\r");
        ASSERT_TRUE(program.hides("tokens/s per GPU")) << program.grid().text();
        ASSERT_TRUE(program.shows("Loss, cross-entropy")) << program.grid().text();
        ASSERT_TRUE(program.hides("110.0, 90 %")) << program.grid().text(); // beside the throughput, where it is drawn
        program.type(" "); // the chosen run goes
        program.settle();
        program.type("e");
        ASSERT_TRUE(program.shows("Export loss")) << program.grid().text();
        program.type("\x15" + (folder_ / "loss.csv").string() + "\r");
        ASSERT_TRUE(program.shows("Wrote")) << program.grid().text();
        const Expected<std::string> csv = read_text_file(folder_ / "loss.csv");
        ASSERT_TRUE(csv);
        EXPECT_THAT(*csv, HasSubstr("run,step,loss,least,most"));
        EXPECT_THAT(*csv, HasSubstr("narrow,"));
        EXPECT_THAT(*csv, Not(HasSubstr("wide,")));
        program.type("va");
        program.type("q");
        EXPECT_EQ(program.wait(), 0);
    }
    // How they are shown is kept; what was marked is not.
    TerminalProgram again(fixed(), options(40, 120));
    ASSERT_TRUE(again.shows("Fits."));
    again.type("5v");
    ASSERT_TRUE(again.shows("1 run over step")) << again.grid().text();
    EXPECT_TRUE(again.hides("tokens/s per GPU")) << again.grid().text();
    EXPECT_TRUE(again.hides("110.0, 90 %")) << again.grid().text();
}

TEST_F(TuiHistory, TakesAPublishedTableAndSaysWhatIsThereAlready)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("5");
    ASSERT_TRUE(program.shows("No run is stored yet")) << program.grid().text();
    program.type("I");
    ASSERT_TRUE(program.shows("Take runs into the history")) << program.grid().text();
    program.type("torchtitan\r");
    ASSERT_TRUE(program.shows("runs added", std::chrono::seconds(60))) << program.grid().text();
    const std::size_t count = stored().size();
    EXPECT_GE(count, 18U);
    ASSERT_TRUE(program.shows(std::to_string(count) + " of " + std::to_string(count) + " runs"));
    program.type("I");
    ASSERT_TRUE(program.shows("A file or folder..."));
    program.type("type its name\r");
    ASSERT_TRUE(program.shows("the folder of a run"));
    program.type(std::string(kTable) + "\r");
    ASSERT_TRUE(program.shows("0 runs added, ", std::chrono::seconds(60))) << program.grid().text();
    EXPECT_TRUE(program.shows("there already"));
    EXPECT_EQ(stored().size(), count);
}

TEST_F(TuiHistory, TakesExportedRunsAndTellsWhatIsNone)
{
    const std::filesystem::path other = folder_ / "other.db";
    store_curves(other);
    Json exported = Json::array();
    for (const char* id : kIds)
        exported.push_back(must(export_run(open_store(other), id)));
    std::ofstream(folder_ / "runs.json") << exported.dump();
    std::ofstream(folder_ / "bad.json") << R"({"a": 1})";

    TerminalProgram program(fixed(), options());
    ASSERT_TRUE(program.shows("Fits."));
    const auto take = [&](const std::string& name) {
        program.type("I");
        ASSERT_TRUE(program.shows("A file or folder..."));
        program.type("type its name\r");
        ASSERT_TRUE(program.shows("the folder of a run"));
        program.type((folder_ / name).string() + "\r");
    };
    program.type("5");
    take("none.json");
    ASSERT_TRUE(program.shows("there is no such file")) << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("the folder of a run"));
    take("bad.json");
    ASSERT_TRUE(program.shows("fourfold_run")) << program.grid().text();
    EXPECT_TRUE(stored().empty());
    take("runs.json");
    ASSERT_TRUE(program.shows("3 runs added")) << program.grid().text();
    ASSERT_TRUE(program.shows("3 of 3 runs"));
    EXPECT_EQ(stored().size(), 3U);
    // One alone is chosen, whatever the filter hid.
    std::ofstream(folder_ / "one.json") << exported[1].dump();
    program.type("/wide\r");
    ASSERT_TRUE(program.shows("1 of 3 runs")) << program.grid().text();
    take("one.json");
    ASSERT_TRUE(program.shows("3 of 3 runs")) << program.grid().text();
    EXPECT_TRUE(program.shows(std::string(" ") + kIds[1])) << program.grid().text();
}

TEST_F(TuiHistory, WhatIsMarkedIsComparedAndHiddenTogether)
{
    store_curves(history());
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("5  ");
    ASSERT_TRUE(program.shows("2 marked")) << program.grid().text();
    program.type("C");
    ASSERT_TRUE(program.shows("wide \u00b7 00000C")) << program.grid().text();
    EXPECT_TRUE(program.shows("narrow \u00b7 0000")) << program.grid().text();
    program.type("5D");
    ASSERT_TRUE(program.shows("Hide the 2 marked runs?")) << program.grid().text();
    program.type("y");
    ASSERT_TRUE(program.shows("1 of 1 run")) << program.grid().text();
    program.type("u");
    ASSERT_TRUE(program.shows("3 of 3 runs")) << program.grid().text();
}

TEST_F(TuiHistory, FitsAStackToMarkedRunsAndSavesIt)
{
    TerminalProgram program(real({"tui", plan().string()}), options(40, 120));
    ASSERT_TRUE(program.shows("GiB"));
    program.type("5I");
    ASSERT_TRUE(program.shows("Take runs into the history")) << program.grid().text();
    program.type("torchtitan\r");
    ASSERT_TRUE(program.shows("runs added", std::chrono::seconds(60))) << program.grid().text();
    const std::size_t count = stored().size();
    program.type(std::string(count, ' '));
    ASSERT_TRUE(program.shows(" marked")) << program.grid().text();
    program.type("K");
    ASSERT_TRUE(program.shows("Recalibrate " + stored().front().stack)) << program.grid().text();
    ASSERT_TRUE(program.shows("mean error", std::chrono::seconds(60))) << program.grid().text();
    EXPECT_TRUE(program.shows("Runs before and after"));
    program.type("\t");
    ASSERT_TRUE(program.shows("Constants that move")) << program.grid().text();
    program.type("s");
    ASSERT_TRUE(program.shows("Save as a preset"));
    program.type("\x15mine\r");
    ASSERT_TRUE(program.shows("Stack mine is saved")) << program.grid().text();
    EXPECT_TRUE(std::filesystem::exists(folder_ / "config/fourfold/presets/stacks/mine.json"));
}

TEST_F(TuiHistory, MarksAreReadOut)
{
    store_curves(history());
    TerminalProgram::Options dumb = options(24, 200);
    dumb.environment["TERM"] = "dumb";
    TerminalProgram program(fixed(), dumb);
    ASSERT_TRUE(program.shows("At "));
    program.type("5\n");
    ASSERT_TRUE(program.shows("enter tells all of it")) << program.bytes();
    EXPECT_THAT(program.bytes(), Not(HasSubstr(", marked")));
    program.type("space\nq\n");
    EXPECT_EQ(program.wait(), 0);
    EXPECT_THAT(program.bytes(), testing::ContainsRegex("Row 1: [^\r\n]*, marked"));
}

} // namespace
} // namespace fourfold::test
