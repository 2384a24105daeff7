// SPDX-License-Identifier: GPL-3.0-or-later
// Traces and trackers in a terminal: a profiler's kernels beside a plan, a stored run's traced step, curves of
// TensorBoard and Weights & Biases that grow; whatever is opened by its name.
#include "core/dashboards/dashboard.h"
#include "core/history/store.h"
#include "core/plan/plan.h"
#include "core/plan/presets.h"
#include "tests/history/history_test_support.h"
#include "tests/kineto_trace.h"
#include "tests/tui/tui_fixture.h"

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TuiKernels : public Tui {
protected:
    std::filesystem::path trace(int rank) const
    {
        std::filesystem::create_directories(folder_ / "traces");
        const std::filesystem::path file = folder_ / "traces" / ("rank" + std::to_string(rank) + ".json");
        std::ofstream(file) << kineto_trace(rank).dump();
        return file;
    }
    // What is named at `o` is opened for what it is.
    static void open(TerminalProgram& program, const std::filesystem::path& place)
    {
        program.type("oA file...\r");
        ASSERT_TRUE(program.shows("or what else can be opened")) << program.grid().text();
        program.type(place.string() + "\r");
    }
    static Json event(int step)
    {
        char time[32];
        std::snprintf(time, sizeof time, "2026-01-01T00:00:%02d.000Z", step);
        return {{"event", "step"}, {"time", time}, {"step", step}, {"loss", 8.0 / step}, {"mfu", 0.5},
            {"tokens", 1000.0 * step}};
    }
};

TEST_F(TuiKernels, ATraceIsLaidOverThePrediction)
{
    trace(1);
    trace(5);
    TerminalProgram program(real({"tui", plan().string()}), options(40, 120));
    ASSERT_TRUE(program.shows("GiB"));
    program.type("K");
    ASSERT_TRUE(program.shows("Kernels of a step")) << program.grid().text();
    ASSERT_TRUE(program.shows("stage 0, compute")) << program.grid().text();
    EXPECT_TRUE(program.shows("o opens traces of torch.profiler")) << program.grid().text();
    program.type("o");
    ASSERT_TRUE(program.shows("or a folder of them")) << program.grid().text();
    program.type((folder_ / "traces").string() + "\r");
    ASSERT_TRUE(program.shows("step 4, 2 ranks, 12 kernels, NVIDIA H100")) << program.grid().text();
    EXPECT_TRUE(program.shows("rank 1, stream 7, compute")) << program.grid().text();
    EXPECT_TRUE(program.shows("the profiled training has 8 ranks, the plan 16 GPUs")) << program.grid().text();
    EXPECT_TRUE(program.shows("DIFFERENCE")) << "by part\n" << program.grid().text();
    EXPECT_TRUE(program.shows("table of rank 1")) << program.grid().text();
    program.type(">");
    EXPECT_TRUE(program.shows("table of rank 5")) << program.grid().text();
    program.type("[");
    EXPECT_TRUE(program.shows("step 3 of 3 to 4")) << program.grid().text();
    program.type("]");
    ASSERT_TRUE(program.shows("step 4 of 3 to 4")) << program.grid().text();
    // A kernel is found by its name and told: what it moved, between whom.
    program.type("/allgather\r");
    ASSERT_TRUE(program.shows("_allgather_base of 16.4 kB, fsdp, 8 ranks: 32.8 MB/s")) << program.grid().text();
    program.type("/flash\r");
    ASSERT_TRUE(program.shows("attention, layer 5")) << program.grid().text();
    program.type("/nothing of this name\r");
    ASSERT_TRUE(program.shows("None is called nothing of this name")) << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("None is called"));
    program.type("\t\t");
    ASSERT_TRUE(program.shows("Collectives")) << program.grid().text();
    EXPECT_TRUE(program.shows("GROUP")) << program.grid().text();
    EXPECT_TRUE(program.shows("fsdp")) << program.grid().text();
    const std::filesystem::path file = folder_ / "collectives.csv";
    program.type("ecollectives\r");
    ASSERT_TRUE(program.shows("Export collectives")) << program.grid().text();
    program.type("\x15" + file.string() + "\r");
    ASSERT_TRUE(program.shows("Wrote ")) << program.grid().text();
    EXPECT_THAT(must(read_text_file(file)), HasSubstr("fsdp"));
    // Pictures of what is on show, one alone and both on one axis.
    const auto export_picture = [&](const std::string& entry, const std::string& name) {
        program.type("e" + entry + "\r");
        ASSERT_TRUE(program.shows("Enter takes it")) << program.grid().text();
        program.type("\x15" + (folder_ / name).string() + "\r");
        ASSERT_TRUE(program.hides("Enter takes it")) << program.grid().text();
        ASSERT_TRUE(program.shows(name)) << "Wrote it\n" << program.grid().text();
        EXPECT_THAT(must(read_text_file(folder_ / name)), HasSubstr("</svg>"));
    };
    export_picture("measured kernels", "measured.svg");
    export_picture("both", "both.svg");
    EXPECT_GT(std::filesystem::file_size(folder_ / "both.svg"), std::filesystem::file_size(folder_ / "measured.svg"));
    // What was opened is there again, and stands beside what is planned then.
    program.type("\033"); // from a table at once
    ASSERT_TRUE(program.hides("Kernels of a step")) << program.grid().text();
    program.type("K");
    ASSERT_TRUE(program.shows("2 ranks, 12 kernels")) << program.grid().text();
    program.type("\t"); // to the timelines, where the kernel is still chosen: lets go of it first
    program.type("\033");
    ASSERT_TRUE(program.hides("flash_fwd")) << program.grid().text();
    EXPECT_TRUE(program.shows("Kernels of a step"));
    program.type("q");
    ASSERT_TRUE(program.hides("Kernels of a step")) << program.grid().text();
    program.type("q");
    EXPECT_EQ(program.wait(), 0);
}

// What is planned, two ranks of a trace beside it, and the table. The plan brings a stack of its own, whose constants
// price the kernels, so slow that they fill the passes of the fixed answer: no calibration changes the screens.
TEST_F(TuiKernels, ScreensAreAsTheyWere)
{
    Json own = Json::parse(kPlan);
    own["stack"] = {{"id", "fixed"}, {"name", "Fixed"},
        {"constants", {{"gemm_efficiency", 0.08}, {"attention_efficiency", 0.02}, {"elementwise_efficiency", 0.05}}}};
    std::ofstream(plan()) << own;
    trace(1);
    trace(5);
    for (const ScreenSize& size : kScreenSizes) {
        forget_session();
        TerminalProgram program(fixed(), options(size));
        ASSERT_TRUE(program.shows("Fits."));
        const auto looks = [&](const char* page) {
            ASSERT_TRUE(program.hides("Laying one over the other")) << program.grid().text();
            expect_golden(std::string(page) + "-" + size.name(), shown(program, size));
        };
        program.type("K");
        ASSERT_TRUE(program.shows("stage 0, compute")) << program.grid().text();
        looks("kernels-planned");
        program.type("o");
        ASSERT_TRUE(program.shows("or a folder of them")) << program.grid().text();
        program.type((folder_ / "traces").string() + "\r");
        ASSERT_TRUE(program.shows("step 4 of 3 to 4; table of rank 1")) << program.grid().text();
        program.type("/flash\r++"); // so close that both are seen kernel by kernel
        ASSERT_TRUE(program.shows("3.98 ms")) << "the end of the axis\n" << program.grid().text();
        looks("kernels");
        program.type("\t");
        ASSERT_TRUE(program.shows("DIFFERENCE")) << program.grid().text();
        looks("kernels-table");
        program.type("\033");
        ASSERT_TRUE(program.hides("Kernels of a step")) << program.grid().text();
        program.type("q");
        EXPECT_EQ(program.wait(), 0);
    }
}

TEST_F(TuiKernels, FitTheSmallScreen)
{
    TerminalProgram program(real({"tui", plan().string()}), options());
    ASSERT_TRUE(program.shows("GiB"));
    open(program, trace(5));
    ASSERT_TRUE(program.shows("6 kernels")) << program.grid().text();
    ASSERT_TRUE(program.shows("the plan 16 GPUs")) << "the plan has its answer\n" << program.grid().text();
    EXPECT_TRUE(program.shows("Esc closes")) << program.grid().text();
    EXPECT_THAT(program.grid().text(), Not(HasSubstr("DIFFERENCE")));
    program.type("\t");
    ASSERT_TRUE(program.shows("DIFFERENCE")) << program.grid().text();
    EXPECT_TRUE(program.hides("rank 5, s")) << program.grid().text();
    program.type("\t\t");
    ASSERT_TRUE(program.shows("rank 5, s")) << "streams\n" << program.grid().text();
}

TEST_F(TuiKernels, WhatIsNoTraceIsSaid)
{
    TerminalProgram program(real({"tui", plan().string()}), options());
    ASSERT_TRUE(program.shows("GiB"));
    std::ofstream(folder_ / "x.json") << R"({"traceEvents": 7})";
    program.type("Ko" + (folder_ / "x.json").string() + "\r");
    ASSERT_TRUE(program.shows("This trace cannot be shown")) << program.grid().text();
    program.type("\033o" + (folder_ / "none").string() + "\r");
    ASSERT_TRUE(program.shows("there is no such file")) << program.grid().text();
}

TEST_F(TuiKernels, AreReadOutInLines)
{
    TerminalProgram::Options dumb = options(24, 200);
    dumb.environment["TERM"] = "dumb";
    TerminalProgram program(real({"tui", plan().string()}), dumb);
    ASSERT_TRUE(program.shows("At ")) << program.bytes();
    program.type("K\n");
    ASSERT_TRUE(program.shows("open FILE, step N")) << program.bytes();
    program.type("open " + trace(5).string() + "\n");
    EXPECT_TRUE(program.says("step 4, 1 rank, 6 kernels")) << program.bytes();
    program.type("collectives\n");
    EXPECT_TRUE(program.says("fsdp")) << program.bytes();
    program.type("esc\nq\n");
    EXPECT_EQ(program.wait(), 0) << program.bytes();
}

// A stored run that told of a traced step has it beside the planned one.
TEST_F(TuiKernels, AStoredRunsTracedStepIsLookedAt)
{
    const std::filesystem::path history = folder_ / "data/fourfold/history.db";
    std::filesystem::create_directories(history.parent_path());
    {
        HistoryStore store = open_store(history);
        NewRun run = sample_run("01J0000000000000000000000T");
        run.plan = to_json(must(resolve(must(parse_plan(kPlan, "test")), Presets())), PresetStyle::inlined);
        must(store.create_run(run));
        must(store.append_events(run.id, "events",
            {step_line(0, 1),
                R"({"seq":1,"time":"2026-01-01T00:00:02.000Z","rank":0,"event":"trace","step":1,"traceEvents":[)"
                R"({"cat":"forward","ph":"X","tid":0,"ts":0,"dur":2000,"args":{"micro_batch":0,"chunk":0}},)"
                R"({"cat":"backward","ph":"X","tid":1,"ts":2000,"dur":4000,"args":{"micro_batch":0,"chunk":0}}],)"
                R"("otherData":{"step_time_s":0.006}})"}));
        must(store.set_state(run.id, RunState::ok));
    }
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("5");
    ASSERT_TRUE(program.shows("1 of 1 run")) << program.grid().text();
    program.type("Ptraced\r");
    ASSERT_TRUE(program.shows("Kernels of a step")) << program.grid().text();
    ASSERT_TRUE(program.shows("as planned")) << program.grid().text();
    EXPECT_TRUE(program.shows("DIFFERENCE ms")) << program.grid().text();
    EXPECT_TRUE(program.shows("backward")) << program.grid().text();
}

TEST_F(TuiKernels, CurvesOfTrackersStandBesideTheHistorysAndGrow)
{
    const auto board = tensorboard_file(folder_ / "logs", {"first", "", Json()});
    const auto wandb = weights_and_biases_run(folder_ / "logs", {"abc", "brisk-wind", Json()});
    for (int step = 1; step <= 10; ++step) {
        ASSERT_TRUE(board->add(event(step)));
        ASSERT_TRUE(wandb->add(event(step)));
    }
    {
        TerminalProgram program(fixed(), options(40, 120));
        ASSERT_TRUE(program.shows("Fits."));
        open(program, folder_ / "logs");
        ASSERT_TRUE(program.shows("first (TensorBoard)")) << program.grid().text();
        ASSERT_TRUE(program.shows("brisk-wind (W&B)")) << program.grid().text();
        EXPECT_TRUE(program.shows("2 runs over step")) << program.grid().text();
        program.type("ll"); // the cursor says where it reads
        ASSERT_TRUE(program.shows("read at ")) << program.grid().text();
        for (int step = 11; step <= 20; ++step)
            ASSERT_TRUE(board->add(event(step)));
        bool grew = false;
        for (int i = 0; i < 100 && !grew; ++i) {
            program.type("ll");
            program.read_some(std::chrono::milliseconds(100));
            grew = program.grid().text().find("read at 20") != std::string::npos;
        }
        EXPECT_TRUE(grew) << program.grid().text();
        program.type("jx");
        ASSERT_TRUE(program.shows("Closed ")) << program.grid().text();
        ASSERT_TRUE(program.shows("1 run over step")) << program.grid().text();
        program.type("q");
        EXPECT_EQ(program.wait(), 0);
    }
    // What is open is there again; the history was not touched.
    TerminalProgram again({FOURFOLD_FIXED_PLANNER}, options(40, 120));
    ASSERT_TRUE(again.shows("No run is stored yet")) << again.grid().text();
    again.type("v");
    ASSERT_TRUE(again.shows("2 runs over step")) << "its folder is open\n" << again.grid().text();
    again.type("vI");
    ASSERT_TRUE(again.shows("Curves of TensorBoard or W&B...")) << again.grid().text();
    again.type("curves\r" + (folder_ / "none").string() + "\r");
    ASSERT_TRUE(again.shows("there is no such file")) << again.grid().text();
    std::filesystem::create_directories(folder_ / "empty");
    again.type("\x15" + (folder_ / "empty").string() + "\r");
    ASSERT_TRUE(again.hides("nothing is written there")) << again.grid().text();
    EXPECT_TRUE(again.shows("/empty")) << "and what it lacks\n" << again.grid().text();
}

// A table goes to Compare, a model into the plan.
TEST_F(TuiKernels, OtherFilesAreOpenedForWhatTheyAre)
{
    TerminalProgram program(fixed(), options(40, 120));
    ASSERT_TRUE(program.shows("Fits."));
    open(program, FOURFOLD_SOURCE_DIR "/presets/published/torchtitan_llama31_h100.csv");
    ASSERT_TRUE(program.shows("Row of torchtitan_llama31_h100")) << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("Row of"));
    std::ofstream(folder_ / "config.json") << R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 176,
        "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 256,
        "rms_norm_eps": 1e-5, "max_position_embeddings": 128, "tie_word_embeddings": false})";
    open(program, folder_ / "config.json");
    ASSERT_TRUE(program.shows("What is used of config.json")) << program.grid().text();
    program.type("\033");
    std::ofstream(folder_ / "nothing.json") << "{}";
    open(program, folder_ / "nothing.json");
    ASSERT_TRUE(program.shows("nothing.json")) << program.grid().text();
}

} // namespace
} // namespace fourfold::test
