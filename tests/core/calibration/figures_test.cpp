// SPDX-License-Identifier: GPL-3.0-or-later
// Sums over scored rows against values worked out by hand; splits, folds, and widths of intervals.
#include "core/base/sha256.h"
#include "core/calibration/confidence.h"
#include "core/calibration/coverage.h"
#include "core/calibration/figures.h"
#include "core/predict/rank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>
#include <set>

#include <unistd.h>

namespace fourfold::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Rows whose predictions a test sets itself.
struct Cells {
    std::vector<MeasuredRow> measured;
    std::vector<ScoredRow> scored;

    // measured 0 = ran out of memory; risk and crash as the planner sees the cell.
    void add(
        double measured_tps, double predicted_tps, bool crash = false, int gpus = 8, const std::string& group = "g")
    {
        MeasuredRow row;
        row.table = group;
        row.status = measured_tps > 0 ? CellStatus::ok : CellStatus::oom;
        row.plan.gpus = gpus;
        row.plan.training.micro_batch = int(measured.size()) + 1; // every cell another layout
        if (measured_tps > 0)
            row.tps_per_gpu = measured_tps;
        measured.push_back(row);
        ScoredRow cell;
        cell.tps_per_gpu = predicted_tps;
        cell.memory_device_gib = 40;
        cell.risk = 0;
        cell.crash = cell.out_of_memory = crash;
        cell.group = group;
        Interval interval;
        interval.tps_per_gpu = {predicted_tps * std::exp(-0.1), predicted_tps * std::exp(0.1)};
        cell.interval = interval;
        scored.push_back(cell);
    }
    std::vector<const ScoredRow*> rows()
    {
        std::vector<const ScoredRow*> out;
        for (std::size_t i = 0; i < scored.size(); ++i) {
            scored[i].row = &measured[i];
            out.push_back(&scored[i]);
        }
        return out;
    }
};

TEST(Figures, ErrorsOfThroughput)
{
    const ErrorFigures e = error_figures({0.02, -0.04, 0.12, -0.02});
    EXPECT_EQ(e.rows, 4);
    EXPECT_NEAR(e.mape, 0.05, 1e-12);
    EXPECT_NEAR(e.median, 0.03, 1e-12);
    EXPECT_NEAR(e.max, 0.12, 1e-12);
    EXPECT_NEAR(e.bias, 0.02, 1e-12);
    EXPECT_EQ(e.within_5, 0.75);
    EXPECT_EQ(e.within_10, 0.75);
    EXPECT_EQ(error_figures({}).rows, 0);
}

// One job whose predictions are all 30 % too high: the differences between its layouts are right all the same.
TEST(Figures, WhatAJobHasInCommonCancelsInDifferences)
{
    Cells cells;
    for (const double tps : {100.0, 110.0, 125.0, 90.0})
        cells.add(tps, 1.3 * tps);
    EXPECT_NEAR(error_of_differences(cells.rows()), 0, 1e-12);
    cells.add(100, 130 * std::exp(0.1)); // off by 0.1 against each of the four: 4 of 10 pairs
    EXPECT_NEAR(error_of_differences(cells.rows()), 0, 1e-12) << "the median";
    cells.add(100, 130 * std::exp(-0.1)); // 4 pairs more by 0.1, one by 0.2: 9 of 15
    EXPECT_NEAR(error_of_differences(cells.rows()), 1.4826 * 0.1, 1e-9);
    EXPECT_EQ(error_of_differences({}), 0);
    Cells apart;
    apart.add(100, 130, false, 8);
    apart.add(100, 100, false, 16);
    EXPECT_EQ(error_of_differences(apart.rows()), 0) << "other numbers of GPUs are other jobs";
}

// By counting draws.
TEST(Figures, TiesAreWhereTheOrderIsACoins)
{
    std::mt19937 random(3);
    std::normal_distribution<double> error(0, 0.04);
    const double width = tie_width(0.04);
    int right = 0;
    const int draws = 200000;
    for (int i = 0; i < draws; ++i)
        right += width + error(random) > 0;
    EXPECT_NEAR(double(right) / draws, 0.55, 0.005);
}

TEST(Figures, AnomaliesStandApartAndAreAlsoTold)
{
    Cells cells;
    cells.add(100, 110);
    cells.add(100, 200);
    cells.measured[1].excluded = true;
    const Figures f = figures_of("all", cells.rows());
    EXPECT_EQ(f.throughput.rows, 1);
    EXPECT_NEAR(f.throughput.mape, 0.1, 1e-12);
    EXPECT_EQ(f.with_anomalies.rows, 2);
    EXPECT_NEAR(f.with_anomalies.mape, 0.55, 1e-12);
}

TEST(Figures, VerdictsCountFalseAlarmsAndMisses)
{
    Cells cells;
    cells.add(100, 100, false);
    cells.add(100, 100, true); // false alarm
    cells.add(0, 100, true);
    cells.add(0, 100, false); // missed
    cells.add(0, 100, false); // a hang is no verdict on memory
    cells.measured[4].status = CellStatus::hang;
    const Figures f = figures_of("all", cells.rows());
    EXPECT_EQ(f.fits.cells, 4);
    EXPECT_EQ(f.fits.right, 2);
    EXPECT_EQ(f.fits.false_alarms, 1);
    EXPECT_EQ(f.fits.missed, 1);
    EXPECT_EQ(f.runs.cells, 5);
    EXPECT_EQ(f.runs.missed, 2);
    EXPECT_NEAR(f.runs.accuracy(), 0.4, 1e-12);
}

TEST(Figures, RegretOfTheFirstPick)
{
    Cells cells;
    cells.add(100, 90); // the measured best
    cells.add(95, 120); // predicted best: 5 % regret
    cells.add(50, 40);
    const RankingFigures r = ranking_figures(cells.rows());
    EXPECT_EQ(r.groups, 1);
    EXPECT_NEAR(r.regret_mean, 0.05, 1e-12);
    EXPECT_NEAR(r.spearman_mean, 0.5, 1e-12);
    EXPECT_EQ(r.exact, 0);
}

TEST(Figures, ASettingThatIsPrintedTwiceIsOneLayout)
{
    Cells cells;
    cells.add(100, 120);
    cells.add(80, 120); // the same once more: 90 in the mean
    cells.measured[1].plan = cells.measured[0].plan;
    cells.add(95, 110);
    const RankingFigures r = ranking_figures(cells.rows());
    EXPECT_EQ(r.groups, 1);
    EXPECT_EQ(r.long_groups, 0) << "two layouts have no rank correlation";
    EXPECT_NEAR(r.regret_mean, 1 - 90.0 / 95, 1e-12);
}

TEST(Figures, APickThatCrashedLosesEverything)
{
    Cells cells;
    cells.add(100, 100, false, 8, "a");
    cells.add(0, 200, false, 8, "a"); // looks best, ran out of memory
    cells.add(100, 100, false, 8, "b");
    cells.add(0, 200, true, 8, "b"); // seen to crash
    cells.add(0, 200, false, 8, "c"); // nothing ran: no best
    cells.add(0, 100, false, 8, "c");
    const PlannerFigures p = planner_figures(cells.rows());
    EXPECT_EQ(p.groups, 2);
    EXPECT_EQ(p.crashed_picks, 1);
    EXPECT_NEAR(p.regret_mean, 0.5, 1e-12);
    EXPECT_EQ(p.regret_max, 1);
}

TEST(Figures, SpearmanAgainstHandValues)
{
    EXPECT_NEAR(spearman({1, 2, 3}, {10, 20, 30}), 1, 1e-12);
    EXPECT_NEAR(spearman({1, 2, 3}, {30, 20, 10}), -1, 1e-12);
    // Ranks 1 2 3 4 against 2 1 4 3: 1 - 6 * 4 / (4 * 15).
    EXPECT_NEAR(spearman({1, 2, 3, 4}, {2, 1, 4, 3}), 0.6, 1e-12);
    EXPECT_EQ(spearman({1, 1}, {1, 2}), 0);
    EXPECT_EQ(spearman({1}, {1}), 0);
}

TEST(Coverage, ConformalWidthIsTheRankThatHolds)
{
    std::vector<double> errors;
    for (int i = 1; i <= 19; ++i)
        errors.push_back(i % 2 == 0 ? i : -i);
    EXPECT_EQ(conformal_width(errors), 18) << "20 * 0.9: the 18th of 19";
    errors.push_back(20);
    EXPECT_NEAR(conformal_width(errors), 18.9, 1e-12) << "21 * 0.9 = 18.9: between the 18th and the 19th";
    EXPECT_EQ(conformal_width({0.1, -0.3}), 0.3);
    EXPECT_EQ(conformal_width({}), 0);
}

TEST(Coverage, HoldsWhereTheOtherGroupsAreAlike)
{
    std::mt19937 random(7);
    Cells cells;
    for (int i = 0; i < 600; ++i) {
        double sum = 0; // about normal, the same with every standard library
        for (int k = 0; k < 12; ++k)
            sum += double(random()) / 4294967296.0;
        cells.add(100, 100 * std::exp(0.05 * (sum - 6)), false, i % 2 == 0 ? 8 : 128, std::to_string(i % 10));
    }
    const auto bands = time_coverage(cells.rows());
    ASSERT_EQ(bands.size(), 3U);
    EXPECT_EQ(bands[0].name, "up to 8 GPUs");
    EXPECT_EQ(bands[1].name, "more than 64 GPUs");
    for (const Coverage& band : bands) {
        ASSERT_TRUE(band.crossed) << band.name;
        EXPECT_NEAR(*band.crossed, 0.93, 0.03) << band.name << ", of five groups";
        EXPECT_NEAR(band.width, 0.05 * 1.645 * std::sqrt(1.25), 0.012);
        EXPECT_NEAR(band.shipped_width, 0.1, 1e-9);
        EXPECT_NEAR(band.shipped, 0.954, 0.03) << "a width of two standard deviations";
    }
}

TEST(Coverage, RowsWithoutAnIntervalAreCounted)
{
    Cells cells;
    cells.add(100, 100);
    cells.add(100, 300);
    cells.scored[1].interval.reset();
    const auto all = time_coverage(cells.rows()).back();
    EXPECT_EQ(all.rows, 1);
    EXPECT_EQ(all.without_interval, 1);
    EXPECT_EQ(all.shipped, 1);
}

TEST(Confidence, DeviceMemoryWidthFollowsTheLabels)
{
    std::vector<double> ran, out_of_memory;
    for (int i = 1; i <= 40; ++i) {
        ran.push_back(0.02 * i);
        out_of_memory.push_back(-0.02 * i);
    }
    const double sharp = device_memory_width(ran, out_of_memory);
    EXPECT_LT(sharp, 0.03);
    for (int i = 1; i <= 8; ++i) { // as many surprises on both sides up to 16 % from the capacity
        ran.push_back(-0.02 * i);
        out_of_memory.push_back(0.02 * i);
    }
    EXPECT_GT(device_memory_width(ran, out_of_memory), 0.08);
}

TEST(Confidence, SaysOnWhichGpusAReleaseWasMeasured)
{
    const auto folder
        = std::filesystem::path(testing::TempDir()) / ("fourfold-confidence-" + std::to_string(::getpid()));
    const auto file = folder / "stacks" / "s.json";
    std::filesystem::create_directories(file.parent_path());
    ASSERT_TRUE(write_file_atomically(
        file, R"({"id": "s", "releases": [{"name": "25.09", "date": "2025-09", "gpus": ["old"]}]})"));
    StackConfidence confidence;
    confidence.stack = "s";
    confidence.releases = {{"25.09", {"a", "b"}}, {"25.11", {"b"}}};
    const auto written = write_confidence(confidence, folder);
    ASSERT_TRUE(written) << written.error().line();
    const auto stack = stack_from_json(*read_json_file(file), "s.json");
    std::filesystem::remove_all(folder);
    ASSERT_TRUE(stack) << stack.error().line();
    ASSERT_EQ(stack->releases.size(), 2U);
    EXPECT_EQ(stack->releases[0].gpus, (std::set<std::string>{"a", "b"}));
    EXPECT_EQ(stack->releases[0].date, "2025-09");
    EXPECT_EQ(stack->releases[1].gpus, std::set<std::string>{"b"});
}

TEST(Splits, GroupsOfARow)
{
    MeasuredRow row;
    row.table = "t12:48 node contenders";
    row.plan.gpus = 8;
    row.plan.layout.tp = 4;
    row.plan.layout.pp = 2;
    row.plan.model.hidden = 1024;
    row.plan.model.layers = 24;
    EXPECT_EQ(group_key(row, RowSplit::table), row.table);
    EXPECT_EQ(group_key(row, RowSplit::section), "48 node contenders");
    EXPECT_EQ(group_key(row, RowSplit::block), "tp 4 cp 1 pp 2");
    EXPECT_EQ(group_key(row, RowSplit::model), "h 1024 L 24");
    row.source = "ours";
    EXPECT_EQ(group_key(row, RowSplit::source), "ours");
    row.plan.cluster.gpu.id = "a100";
    EXPECT_EQ(group_key(row, RowSplit::generation), "a100") << "of a chip that nobody named, its own";
    row.plan.cluster.gpu.generation = "ampere";
    EXPECT_EQ(group_key(row, RowSplit::generation), "ampere");
    const bool odd = std::stoi(sha256_hex(row.table).substr(0, 2), nullptr, 16) % 2 == 1;
    EXPECT_EQ(group_key(row, RowSplit::halves), odd ? "half 1" : "half 0");
    EXPECT_THAT(from_text<RowSplit>("rows", "x").error().line(),
        HasSubstr("expected one of table, section, block, model, source, generation, halves"));
}

TEST(Folds, RoundTripAndReplacement)
{
    const Json json{{"table", "t"}, {"table_sha256", "00"}, {"stack", "generic"}, {"split", "block"}, {"date", "d"},
        {"fitted", "f"},
        {"folds",
            {{{"held_out", {"tp 1 cp 1 pp 1"}}, {"constants", {{"gemm_efficiency", 0.5}}},
                {"gpu_constants", {{"h100-80gb-sxm", {{"gemm_half_k", 7}}}}}}}}};
    const auto set = fold_set_from_json(json, "x.json");
    ASSERT_TRUE(set) << set.error().line();
    EXPECT_EQ(to_json(*set), json);
    EXPECT_EQ(set->file_name(), "t.generic.block.json");
    EXPECT_EQ(set->without("tp 2 cp 1 pp 1"), nullptr);
    const Fold* fold = set->without("tp 1 cp 1 pp 1");
    ASSERT_NE(fold, nullptr);
    Stack stack;
    stack.constants["gemm_efficiency"] = 0.9;
    stack.constants["step_overhead_s"] = 0.1;
    const Stack changed = with_fold(stack, *fold);
    EXPECT_EQ(changed.constant("gemm_efficiency", "", 0), 0.5);
    EXPECT_EQ(changed.constant("step_overhead_s", "", 0), 0.1);
    EXPECT_EQ(changed.constant("gemm_half_k", "h100-80gb-sxm", 0), 7);
}

// A fold that leaves out a generation answers for its GPUs as for those that nobody measured.
TEST(Folds, WhatIsLeftOutByGenerationWasNeverMeasured)
{
    Stack stack;
    stack.constants["gemm_efficiency"] = 0.8;
    for (const auto& [gpu, generation] : {std::pair("a100", "ampere"), {"h100", "hopper"}, {"h200", "hopper"}}) {
        stack.gpu_constants[gpu]["gemm_efficiency"] = 0.9;
        stack.measured[gpu].generation = generation;
    }
    const Stack left = without_generation(stack, "hopper");
    EXPECT_TRUE(left.calibrated_for("a100"));
    EXPECT_FALSE(left.calibrated_for("h100") || left.calibrated_for("h200"));
    EXPECT_EQ(left.measured.size(), 1U);
    EXPECT_EQ(left.constant("gemm_efficiency", "h200", 0), 0.8);
}

TEST(Folds, BadSetsAreNamed)
{
    const auto error = [](const char* text) { return fold_set_from_json(*parse_json(text, "x"), "x").error().line(); };
    const std::string head = R"({"table":"t","table_sha256":"0","stack":"s","split":"block","folds":)";
    EXPECT_THAT(error((head + "[]}").c_str()), HasSubstr("x: folds: expected a list of at least one fold"));
    EXPECT_THAT(error((head + R"([{"held_out":[]}]})").c_str()), HasSubstr("folds[0]: held_out"));
    EXPECT_THAT(error((head + R"([{"held_out":["a"],"constants":{"speed":1}}]})").c_str()),
        HasSubstr("no constant of the cost model is called so"));
    EXPECT_THAT(
        error((head + R"([{"held_out":["a"]},{"held_out":["a"]}]})").c_str()), HasSubstr("two folds leave out"));
}

} // namespace
} // namespace fourfold::test
