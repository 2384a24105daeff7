// SPDX-License-Identifier: GPL-3.0-or-later
// Screens of a search with what it found, and of a run that goes on: of fixed figures and of a recorded stream of
// events, which another program stores, so that no clock and no load changes them.
#include "core/plan/plan.h"
#include "core/plan/presets.h"
#include "core/predict/prediction.h"
#include "tests/history/history_test_support.h"
#include "tests/tui/tui_fixture.h"

#include <cmath>
#include <fcntl.h>
#include <fstream>
#include <regex>
#include <sstream>
#include <sys/file.h>
#include <unistd.h>

namespace fourfold::test {
namespace {

constexpr const char* kRun = "01J0000000000000000000000R";
constexpr int kRecorded = 24, kSteps = 40;

class TuiLive : public Tui {
protected:
    ~TuiLive() override
    {
        if (lock_ >= 0)
            ::close(lock_);
    }
    // So long a name that the place of the run has no room beside its title, however long the test's own folder is.
    [[nodiscard]] std::filesystem::path data() const { return folder_ / ("data-" + std::string(100, 'x')); }
    [[nodiscard]] TerminalProgram::Options where(const ScreenSize& size) const
    {
        TerminalProgram::Options options = this->options(size);
        options.environment["XDG_DATA_HOME"] = data().string();
        options.environment["TZ"] = "UTC";
        return options;
    }
    // A run of two ranks that has come so far, with what it said besides, and a program that follows it: this one.
    void record_run()
    {
        const std::filesystem::path run = data() / "fourfold/runs" / kRun;
        std::filesystem::create_directories(run);
        NewRun fresh = sample_run(kRun);
        fresh.name = "Recorded";
        const ResolvedPlan plan = must(resolve(must(parse_plan(kPlan, "test")), Presets()));
        fresh.plan = to_json(plan, PresetStyle::inlined);
        fresh.plan["name"] = fresh.name;
        fresh.plan["run"]["steps"] = kSteps;
        Prediction prediction;
        prediction.plan = plan;
        prediction.feasible = true;
        prediction.step_time_s = 1.9;
        prediction.tps_per_gpu = 105;
        prediction.memory_gib = 1.4;
        prediction.mfu = 0.4;
        prediction.interval = Interval{0.9, {1.8, 2.1}, {98, 112}, {1, 2}};
        fresh.prediction = to_json(prediction);
        HistoryStore store = open_store(data() / "fourfold/history.db");
        must(store.create_run(fresh));
        must(store.set_state(kRun, RunState::running));
        std::ofstream(run / "launch.json") << Json{{"run", kRun},
            {"target", {{"fourfold_target", 1}, {"name", "This computer"}, {"kind", "local"}}},
            {"ranks",
                Json::array(
                    {Json::array({0, 1})})}}.dump();
        std::ofstream(run / "plan.json") << fresh.plan.dump();
        std::ofstream(run / "prediction.json") << fresh.prediction.dump();
        std::ofstream events(run / "events.jsonl");
        const std::string head = R"({"time":"2026-01-01T00:00:00.000Z","rank":0,"event":)";
        events << head << R"("start","versions":{},"hosts":[{"rank":0,"host":"node-a"},{"rank":1,"host":"node-b"}]})"
               << "\n";
        for (int step = 1; step <= kRecorded; ++step) {
            const double tps = 96 + 4 * (step % 4), loss = 1.5 + 3 * std::exp(-0.1 * step);
            const Json ranks{{"memory_peak_gib", {{"min", 1.0}, {"median", 1.25}, {"max", 1.5}, {"worst_rank", 1}}},
                {"step_time_s", {{"min", 1.9}, {"median", 1.95}, {"max", 2.1}, {"worst_rank", 0}}}};
            events << Json{{"time", "2026-01-01T00:00:30.000Z"}, {"rank", 0}, {"event", "step"}, {"step", step},
                {"loss", loss}, {"step_time_s", 2.0}, {"tps_per_gpu", tps}, {"mfu", 0.375}, {"memory_peak_gib", 1.5},
                {"ranks", ranks}}
                          .dump()
                   << "\n";
        }
        events << head << R"("checkpoint","step":20,"bytes":64,"path":"/scratch/saves/step-20"})"
               << "\n";
        events
            << head
            << R"("warning","step":22,"message":"the loss 9 stands out","watch":{"of":"loss","value":9,"mean":1,"limit":2,"action":"warn"}})"
            << "\n";
        events.close();
        lock_ = ::open((run / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        ASSERT_EQ(::flock(lock_, LOCK_EX | LOCK_NB), 0);
    }
    // Without the clock's time, and without what the test's own folder is called.
    [[nodiscard]] std::string steady(const std::string& text) const
    {
        const std::string begin = folder_.path().string().substr(0, 4); // of its path, which is cut somewhere
        std::string out;
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            line = std::regex_replace(line, std::regex("[0-9]{2}:[0-9]{2}:[0-9]{2}"), "HH:MM:SS");
            out += line.substr(0, line.find(begin)) + "\n";
        }
        return out;
    }

private:
    int lock_ = -1;
};

TEST_F(TuiLive, FoundLayoutsAreAsTheyWere)
{
    for (const ScreenSize& size : kScreenSizes) {
        forget_session();
        TerminalProgram program(fixed(), options(size));
        ASSERT_TRUE(program.shows("Fits."));
        program.type("2s");
        ASSERT_TRUE(program.shows("on the Pareto front, in 125 ms")) << program.grid().text();
        program.type("jjp");
        program.settle();
        expect_golden("found-" + size.name(), shown(program, size));
        program.type("/pp < 4\r\t");
        ASSERT_TRUE(program.shows("pp < 4")) << program.grid().text();
        expect_golden("found-picture-" + size.name(), shown(program, size));
    }
}

TEST_F(TuiLive, ARunUnderWayIsAsItWas)
{
    record_run();
    for (const ScreenSize& size : kScreenSizes) {
        std::filesystem::remove(data() / "fourfold/tui.json");
        TerminalProgram program(fixed(), where(size));
        ASSERT_TRUE(program.shows("Fits."));
        program.type("4f");
        ASSERT_TRUE(program.shows("Follow a run")) << program.grid().text();
        program.type("\r");
        ASSERT_TRUE(program.shows("24")) << program.grid().text();
        ASSERT_TRUE(program.shows("stands out")) << program.grid().text();
        expect_golden("live-" + size.name(), steady(shown(program, size)));
        program.type("hhhhh"); // all charts, read off
        ASSERT_TRUE(program.shows("step 20: ")) << program.grid().text();
        expect_golden("live-read-" + size.name(), steady(shown(program, size)));
        program.type("d");
        ASSERT_TRUE(program.shows("it goes on")) << program.grid().text();
        program.type("q");
        EXPECT_EQ(program.wait(), 0);
    }
}

} // namespace
} // namespace fourfold::test
