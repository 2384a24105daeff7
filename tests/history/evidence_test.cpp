// SPDX-License-Identifier: GPL-3.0-or-later
// A stored run vouches for predictions of its layout and of neighbours.
#include "core/calibration/user/evidence.h"
#include "core/calibration/user/measured_rows.h"
#include "core/calibration/user/table_runs.h"
#include "core/history/annotations.h"
#include "core/history/transfer.h"
#include "core/plan/presets.h"
#include "core/predict/explain.h"
#include "core/predict/interval.h"
#include "core/search/search.h"
#include "tests/history/history_test_support.h"

#include <SQLiteCpp/Database.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <csignal>

namespace fourfold::test {
namespace {

ResolvedPlan plan_on_this_computer(int tp, int dp, const char* recompute = "none")
{
    static const Presets presets({std::filesystem::path(FOURFOLD_SOURCE_DIR) / "presets"});
    const Json json{{"model", "llama-3.2-1b"}, {"cluster", "this-computer"}, {"gpus", tp * dp}, {"stack", "fourfold"},
        {"layout", {{"tp", tp}, {"dp", dp}}},
        {"training", {{"seq_len", 512}, {"global_batch", 16}, {"recompute", recompute}}}};
    return must(resolve(must(plan_from_json(json, "test")), presets));
}

// A run of the plan that ended with `status` after twenty steps.
void store_run(const std::filesystem::path& file, const std::string& id, const ResolvedPlan& plan, const char* status,
    double tps = 100, const std::string& backend = {})
{
    HistoryStore store = open_store(file);
    NewRun run = sample_run(id, "hash of " + id);
    run.layout_hash = id;
    run.stack = plan.stack.id;
    run.plan = to_json(plan, PresetStyle::inlined);
    must(store.create_run(run));
    std::vector<std::string> lines{start_line(0, backend)};
    for (int step = 1; step <= 20; ++step)
        lines.push_back(step_line(step, step, tps));
    lines.push_back(end_line(21, status));
    must(store.append_events(id, "events", lines));
}

// Another program that keeps a history for itself.
class LockedFile {
public:
    explicit LockedFile(const std::filesystem::path& file)
    {
        std::array<int, 2> locked{};
        EXPECT_EQ(::pipe(locked.data()), 0);
        holder_ = ::fork();
        if (holder_ == 0) {
            SQLite::Database database(file, SQLite::OPEN_READWRITE);
            database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE runs SET name = name");
            (void)!::write(locked[1], "x", 1);
            for (;;)
                ::pause();
        }
        ::close(locked[1]);
        char byte = 0;
        EXPECT_EQ(::read(locked[0], &byte, 1), 1) << "it could not be locked";
        ::close(locked[0]);
    }
    ~LockedFile()
    {
        ::kill(holder_, SIGKILL);
        ::waitpid(holder_, nullptr, 0);
    }
    LockedFile(const LockedFile&) = delete;
    LockedFile& operator=(const LockedFile&) = delete;

private:
    pid_t holder_ = -1;
};

TEST(HistoryEvidence, ARunVouchesForItsLayoutAndItsNeighbours)
{
    const TemporaryFolder folder;
    HistoryEvidence history(folder / "history.db");
    EXPECT_TRUE(history.near(plan_on_this_computer(2, 2)).empty()) << "there is no history yet";

    store_run(folder / "history.db", "RUN1", plan_on_this_computer(2, 2), "ok");
    EXPECT_FALSE(history.near(plan_on_this_computer(2, 2)).empty());
    EXPECT_FALSE(history.near(plan_on_this_computer(2, 4)).empty());
    EXPECT_TRUE(history.near(plan_on_this_computer(4, 4)).empty()) << "two steps away";
    EXPECT_TRUE(history.near(plan_on_this_computer(2, 2, "full")).empty()) << "other work";

    store_run(folder / "history.db", "RUN2", plan_on_this_computer(2, 2, "full"), "ok");
    EXPECT_FALSE(history.near(plan_on_this_computer(2, 2, "full")).empty()) << "a run that was added meanwhile";

    ResolvedPlan calibrated = plan_on_this_computer(2, 2);
    calibrated.stack.id = "my-fourfold";
    calibrated.stack.base = PresetBase{"fourfold", "", false};
    EXPECT_FALSE(history.near(calibrated).empty()) << "the same software, its constants fitted by the user";
}

// Of a plan whose prediction is calibrated.
ResolvedPlan plan_on_tsubame()
{
    static const Presets presets({std::filesystem::path(FOURFOLD_SOURCE_DIR) / "presets"});
    const Json json{{"model", "llama-3.1-8b"}, {"cluster", "tsubame4"}, {"gpus", 16}, {"stack", "megatron-lm"},
        {"layout", {{"tp", 2}, {"dp", 8}}}, {"training", {{"seq_len", 2048}, {"global_batch", 1024}}}};
    return must(resolve(must(plan_from_json(json, "test")), presets));
}

TEST(HistoryEvidence, OwnRunsWithinTheRangeMakeItMeasured)
{
    const TemporaryFolder folder;
    const ResolvedPlan plan = plan_on_tsubame();
    Prediction prediction = predict(plan);
    ASSERT_EQ(prediction.evidence, Evidence::calibrated);
    store_run(folder / "history.db", "RUN1", plan, "ok", *prediction.tps_per_gpu * 1.01);
    HistoryEvidence history(folder / "history.db");
    const Interval before = *prediction.interval;
    weigh_own_runs(prediction, history.near(plan));
    EXPECT_EQ(prediction.evidence, Evidence::measured);
    EXPECT_EQ(prediction.interval->tps_per_gpu.low, before.tps_per_gpu.low);
}

// Ranks on CPUs, as the target's backend asked, measure nothing of the GPUs that the plan is for.
TEST(HistoryEvidence, ARunOnCpusVouchesForNoPlanOfGpus)
{
    const TemporaryFolder folder;
    const ResolvedPlan plan = plan_on_tsubame();
    HistoryEvidence history(folder / "history.db");
    store_run(folder / "history.db", "RUN1", plan, "ok", 3, "gloo");
    EXPECT_TRUE(history.near(plan).empty());
    store_run(folder / "history.db", "RUN2", plan, "ok", 4000, "nccl");
    const OwnRuns near = history.near(plan);
    ASSERT_EQ(near.size(), 1U);
    EXPECT_EQ(near[0]->tps_per_gpu, 4000);
    store_run(folder / "history.db", "RUN3", plan_on_this_computer(2, 2), "ok", 100, "gloo");
    EXPECT_EQ(history.near(plan_on_this_computer(2, 2)).size(), 1U) << "there they are what was planned";

    const HistoryStore store = open_store(folder / "history.db");
    const MeasuredRows rows = must(history_rows(store, plan.stack.id, {}));
    ASSERT_EQ(rows.rows.size(), 1U);
    EXPECT_EQ(rows.rows[0].label, "run RUN2");
    EXPECT_EQ(rows.skipped, std::vector<std::string>{"run RUN1: its plan is for GPUs, and it ran on CPU ranks"});
}

// What ran with one release of a stack is a run of that stack; the history says which release it was.
TEST(HistoryEvidence, ARunKeepsTheReleaseOfItsStack)
{
    const TemporaryFolder folder;
    ResolvedPlan plan = plan_on_tsubame();
    const std::string stack = plan.stack.id;
    plan.stack.release = "25.11";
    store_run(folder / "history.db", "RUN1", plan, "ok", 4000, "nccl");
    const HistoryStore store = open_store(folder / "history.db");
    const auto runs = must(store.list());
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_EQ(runs[0].stack, stack + "@25.11");
    EXPECT_EQ(must(export_run(store, "RUN1"))["stack"], stack + "@25.11");
    for (const std::string& asked : {stack, stack + "@25.11"})
        EXPECT_EQ(must(history_rows(store, asked, {})).rows.size(), 1U) << asked;
    EXPECT_TRUE(must(history_rows(store, stack + "-2", {})).rows.empty());

    HistoryEvidence history(folder / "history.db");
    EXPECT_EQ(history.near(plan).size(), 1U);
    plan.stack.release = "";
    EXPECT_EQ(history.near(plan).size(), 1U) << "a plan that names no release means them all";
    plan.stack.release = "25.09";
    EXPECT_TRUE(history.near(plan).empty());
}

// One run at half the speed that the model says: the answer goes there, wider than it was, and calls nothing measured.
TEST(HistoryEvidence, OwnRunsFarOutsideTheRangeShiftAndWidenIt)
{
    const TemporaryFolder folder;
    const ResolvedPlan plan = plan_on_tsubame();
    const Prediction model = predict(plan);
    Prediction prediction = model;
    prediction.evidence = Evidence::measured; // a published table may have said so
    const std::size_t warnings = prediction.warnings.size();
    store_run(folder / "history.db", "RUN1", plan, "ok", *model.tps_per_gpu / 2);
    HistoryEvidence history(folder / "history.db");
    weigh_own_runs(prediction, history.near(plan));
    EXPECT_EQ(prediction.evidence, Evidence::calibrated);
    EXPECT_NEAR(*prediction.tps_per_gpu, *model.tps_per_gpu / 2, 1e-6 * *model.tps_per_gpu) << "far beyond scatter";
    EXPECT_NEAR(*prediction.step_time_s, *model.step_time_s * 2, 1e-5 * *model.step_time_s) << "speeds are kept short";
    EXPECT_NEAR(*prediction.mfu, *model.mfu / 2, 1e-6);
    EXPECT_NEAR(prediction.time_by_part.total(), *prediction.step_time_s, 1e-9 * *model.step_time_s);
    EXPECT_NEAR(prediction.timeline.length_s, 2 * model.timeline.length_s, 1e-5 * model.timeline.length_s);
    ASSERT_TRUE(prediction.own_shift);
    EXPECT_EQ(prediction.own_shift->runs, 1);
    EXPECT_EQ(prediction.own_shift->share, 1);
    const auto half_width
        = [](const Prediction& of) { return std::log(of.interval->step_time_s.high / *of.step_time_s); };
    EXPECT_NEAR(half_width(prediction), std::sqrt(2) * half_width(model), 1e-6)
        << "the run's scatter and the plan's own";
    ASSERT_EQ(prediction.warnings.size(), warnings + 2);
    EXPECT_NE(prediction.warnings[warnings].find("your own run of TP 2, CP 1, PP 1, DP 8"), std::string::npos);
    EXPECT_EQ(prediction.warnings.back(),
        "your own run near this layout took 100.0 % longer than the model says: 100 % of it is in this answer");
    const Explanation tree = must(explain(prediction, "step_time_s"));
    double sum = 0;
    for (const Explanation& part : tree.children)
        sum += *part.value;
    EXPECT_NEAR(sum, *tree.value, 1e-9);
    const Prediction again = must(prediction_from_json(to_json(prediction), "test"));
    ASSERT_TRUE(again.own_shift);
    EXPECT_DOUBLE_EQ(again.own_shift->factor, prediction.own_shift->factor);
}

// What a search finds has the times that a prediction of it has: those near own runs shifted by them, the others not;
// and it is ordered by them.
TEST(HistoryEvidence, ASearchShiftsItsLayoutsAsPredictionsAre)
{
    const TemporaryFolder folder;
    ::setenv("XDG_DATA_HOME", folder.path().c_str(), 1);
    const auto file = HistoryStore::default_file();
    std::filesystem::create_directories(file.parent_path());
    const ResolvedPlan plan = plan_on_tsubame();
    const auto search_all = [&] {
        SearchRequest request;
        request.plan = plan;
        request.space = default_space(plan, {16});
        request.space.tp = {1, 2, 4};
        request.space.cp = {1, 2};
        request.space.pp = {1, 2};
        request.space.virtual_stages = {1};
        request.space.micro_batch = {1, 2, 4};
        request.space.sharding = {Sharding::optimizer};
        request.space.recompute = {Recompute::none};
        request.objective = must(parse_objective("tps_per_gpu", "test"));
        request.budget = {1e12, 2};
        request.top = 1000; // all
        request.threads = 2;
        use_own_runs(request);
        return std::pair(request, search(request));
    };
    const auto [bare, before] = search_all();
    for (const FoundLayout& found : before.best)
        EXPECT_EQ(found.stretch, 1) << "there is no history yet";
    ASSERT_GT(before.best.size(), 5U);
    // The pick ran at half the speed that the model says.
    const ResolvedPlan pick = plan_of(before.best.front(), bare);
    store_run(file, "RUN1", pick, "ok", *predict(pick).tps_per_gpu / 2);
    const auto [request, after] = search_all();
    ASSERT_EQ(after.best.size(), before.best.size());
    int shifted = 0;
    for (const FoundLayout& found : after.best) {
        const Prediction prediction = predict_with_evidence(plan_of(found, request));
        EXPECT_NEAR(found.figures.step_time_s, *prediction.step_time_s, 1e-6 * *prediction.step_time_s);
        EXPECT_NEAR(found.stretch, prediction.own_shift ? prediction.own_shift->factor : 1, 1e-9);
        EXPECT_NEAR(found.objective, *prediction.tps_per_gpu, 1e-6 * *prediction.tps_per_gpu);
        shifted += found.stretch != 1 ? 1 : 0;
    }
    EXPECT_GT(shifted, 1) << "the run's own layout and its neighbours";
    EXPECT_LT(shifted, int(after.best.size()));
    EXPECT_NE(after.best.front().candidate, before.best.front().candidate) << "another is the pick now";
    // Only the best few: what a bound spares is the same with and without all rows.
    SearchRequest few = request;
    few.top = 3;
    const SearchResult best = search(few);
    ASSERT_EQ(best.best.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(best.best[i].candidate, after.best[i].candidate);
    SearchRequest model = request;
    model.stretch = nullptr;
    EXPECT_EQ(search(model).best.front().candidate, before.best.front().candidate);
}

// What lies within the scatter of runs of one kind moves nothing; several that agree are believed more than one.
TEST(HistoryEvidence, OwnRunsAreBelievedAsFarAsTheyGoBeyondTheirScatter)
{
    const ResolvedPlan plan = plan_on_tsubame();
    const Prediction model = predict(plan);
    const double deviation = time_half_width(plan) / 1.6449;
    const auto with = [&](int runs, double deviations) {
        OwnRuns own;
        for (int i = 0; i < runs; ++i)
            own.push_back(std::make_shared<const OwnRun>(
                OwnRun{measured_layout(plan), plan, *model.tps_per_gpu * std::exp(-deviations * deviation)}));
        Prediction prediction = model;
        weigh_own_runs(prediction, own);
        return prediction;
    };
    const Prediction near = with(1, 1);
    EXPECT_FALSE(near.own_shift);
    EXPECT_EQ(*near.step_time_s, *model.step_time_s);
    EXPECT_EQ(near.evidence, Evidence::measured);
    const Prediction one = with(1, 1.6), four = with(4, 1.6);
    ASSERT_TRUE(one.own_shift && four.own_shift);
    EXPECT_NEAR(one.own_shift->share, 1 - 1 / (1.6 * 1.6), 1e-9);
    EXPECT_NEAR(four.own_shift->share, 1 - 1 / (4 * 1.6 * 1.6), 1e-9);
    EXPECT_NEAR(std::log(*one.step_time_s / *model.step_time_s), one.own_shift->share * 1.6 * deviation, 1e-9);
    EXPECT_EQ(four.evidence, Evidence::measured) << "all of them lie inside";
    // A run that claims to be faster than the hardware moves the answer no further than to the bound.
    const Prediction impossible = with(1, -100);
    EXPECT_GE(*impossible.step_time_s, model.least.step_s * (1 - 1e-12));
    EXPECT_GE(impossible.interval->step_time_s.low, model.least.step_s * (1 - 1e-12));
    EXPECT_EQ(impossible.evidence, Evidence::extrapolated);
}

TEST(HistoryEvidence, WhatDidNotRunOrWasDeletedVouchesForNothing)
{
    const TemporaryFolder folder;
    HistoryEvidence history(folder / "history.db");
    store_run(folder / "history.db", "RUN1", plan_on_this_computer(2, 2), "oom");
    EXPECT_TRUE(history.near(plan_on_this_computer(2, 2)).empty());
    store_run(folder / "history.db", "RUN2", plan_on_this_computer(2, 2, "full"), "ok");
    HistoryStore store = open_store(folder / "history.db");
    must(set_deleted(store, {"RUN2"}, true));
    EXPECT_TRUE(history.near(plan_on_this_computer(2, 2, "full")).empty());
}

// Each prediction of a table would wait for it anew.
TEST(HistoryEvidence, ALockedHistoryIsWaitedForOnce)
{
    const TemporaryFolder folder;
    const ResolvedPlan plan = plan_on_this_computer(2, 2);
    store_run(folder / "history.db", "RUN1", plan, "ok");
    const LockedFile lock(folder / "history.db");
    HistoryEvidence history(folder / "history.db");
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(history.near(plan).empty());
    const auto once = std::chrono::steady_clock::now() - begin;
    for (int i = 0; i < 5; ++i)
        EXPECT_TRUE(history.near(plan).empty());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 2 * once);
}

// Tables that were imported when what is not known was written as null are the same when they are read again.
TEST(HistoryEvidence, AnImportOfBeforeHasTheSameFigures)
{
    const TemporaryFolder folder;
    HistoryStore store = open_store(folder / "history.db");
    const auto imported = [plan = plan_on_this_computer(2, 2)](Json step) {
        return measured_run(plan, "row 1", "row 1", "ok", "",
            {std::move(step), {{"seq", 1}, {"time", "2026-01-01T00:00:00.000Z"}, {"event", "end"}, {"status", "ok"}}});
    };
    const Json step = {{"seq", 0}, {"time", "2026-01-01T00:00:00.000Z"}, {"event", "step"}, {"step", 1}};
    Json before = step, now = step, other = step;
    before.update({{"step_time_s", nullptr}, {"tps_per_gpu", 100}, {"memory_peak_gib", nullptr}});
    now.update({{"loss", nullptr}, {"tps_per_gpu", 100}});
    other.update({{"tps_per_gpu", 101}});
    must(import_run(store, imported(before)));
    EXPECT_TRUE(same_figures(store, imported(now)));
    EXPECT_FALSE(same_figures(store, imported(other)));
}

TEST(HistoryEvidence, ADamagedHistoryVouchesForNothing)
{
    const TemporaryFolder folder;
    std::FILE* file = std::fopen((folder / "history.db").c_str(), "w");
    std::fputs("this is no database", file);
    std::fclose(file);
    HistoryEvidence history(folder / "history.db");
    EXPECT_TRUE(history.near(plan_on_this_computer(2, 2)).empty());
}

} // namespace
} // namespace fourfold::test
