// SPDX-License-Identifier: GPL-3.0-or-later
// One measured row never hurts: over the published tables no body's mean error grows when `generic` is calibrated on
// one row of it, on average over a seeded sample of rows.
#include "core/calibration/fit/fit.h"
#include "core/calibration/fit/measured_row.h"
#include "core/calibration/measured_table.h"
#include "tests/core/calibration/fit/support.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <random>

namespace fourfold::test {
namespace {

const std::filesystem::path kPublished = FOURFOLD_SOURCE_DIR "/presets/published";

std::vector<FitRow> rows_of(const std::string& table, const std::filesystem::path& folder = kPublished)
{
    const auto sources
        = must(TableSources::from_json(must(read_json_file(kPublished / "sources.json")), "sources.json"));
    std::vector<FitRow> rows;
    for (const MeasuredRow& row : must(read_measured_table(folder / (table + ".csv"), sources, shipped())).rows) {
        if (!row.excluded && row.ran() && row.step_time_s && tells_a_run(row))
            rows.push_back(fit_row_of(row));
    }
    return rows;
}

class OneRowOf : public testing::TestWithParam<std::string> { };

TEST_P(OneRowOf, MakesNoBodyWorseOnAverage)
{
    constexpr int kSample = 6;
    const std::vector<FitRow> rows = rows_of(GetParam());
    ASSERT_GT(rows.size(), 10U);
    const Stack generic = must(shipped().stack("generic"));
    const FitSet* set = fit_set_for(generic.fit, rows.front().plan.cluster.gpu.id);
    ASSERT_NE(set, nullptr);
    FitOptions options;
    options.quantities = {Quantity::time};
    std::mt19937 draw(20);
    double before = 0, after = 0;
    for (int i = 0; i < kSample; ++i) {
        const FitRow& row = rows[draw() % rows.size()];
        std::vector<FitRow> others;
        for (const FitRow& other : rows) {
            // Constants are stored with the GPU: rows of another one do not change.
            if (&other != &row && other.plan.cluster.gpu.id == row.plan.cluster.gpu.id)
                others.push_back(other);
        }
        const FitResult fit = must(fit_stack(generic, *set, {row}, options));
        before += fit_error(generic, others).time / kSample;
        after += fit_error(fit.stack, others).time / kSample;
    }
    std::printf("%-28s before %.4f after %.4f\n", GetParam().c_str(), before, after);
    constexpr double kChance = 0.002; // a sample of a few rows
    EXPECT_LE(after, before + kChance);
}

INSTANTIATE_TEST_SUITE_P(Tables, OneRowOf,
    testing::Values("llama31_8b_4d_a100_h100", "bloom_prequel_a100", "torchtitan_llama31_h100"),
    [](const auto& info) { return info.param.substr(0, info.param.find('_')); });

// The same of the releases of Megatron Core: one row of a release is fitted, the others of it on that GPU are asked.
TEST(OneRow, OfAReleaseMakesTheReleaseNoWorse)
{
    const std::filesystem::path shared = FOURFOLD_SOURCE_DIR "/../shared/published";
    std::map<std::pair<std::string, std::string>, std::vector<FitRow>> bodies; // by release and GPU
    for (const char* table : {"nvidia_dgxc_h100", "nvidia_megatron_bridge"}) {
        if (!std::filesystem::exists(shared / (std::string(table) + ".csv")))
            GTEST_SKIP() << table << ".csv is only in ../shared/published, which is not here";
        for (FitRow& row : rows_of(table, shared)) {
            ASSERT_NE(row.plan.stack.release, "") << row.label;
            ASSERT_EQ(row.plan.stack.unknown_release(), "") << row.label;
            bodies[{row.plan.stack.release, row.plan.cluster.gpu.id}].push_back(std::move(row));
        }
    }
    const Stack core = must(shipped().stack("megatron-core"));
    FitOptions options;
    options.quantities = {Quantity::time};
    std::mt19937 draw(20);
    double before = 0, after = 0;
    int fits = 0;
    for (const auto& [body, rows] : bodies) {
        constexpr std::size_t kFewest = 4, kSample = 4;
        for (std::size_t i = 0; rows.size() >= kFewest && i < kSample; ++i) {
            const std::size_t chosen = draw() % rows.size();
            std::vector<FitRow> others = rows;
            others.erase(others.begin() + std::ptrdiff_t(chosen));
            const FitResult fit = must(fit_stack(core, core.fit.front(), {rows[chosen]}, options));
            before += fit_error(core, others).time;
            after += fit_error(fit.stack, others).time;
            ++fits;
        }
    }
    ASSERT_GT(fits, 20);
    std::printf("%d rows of releases: before %.4f after %.4f\n", fits, before / fits, after / fits);
    constexpr double kChance = 0.002;
    EXPECT_LE(after / fits, before / fits + kChance);
}

// A run that is no further off than runs of one kind scatter says nothing of the constants; one that is tells nearly
// all.
TEST(OneRow, IsBelievedAsFarAsItStandsOut)
{
    const Stack generic = generic_with({});
    FitRow row = measured(generic).front();
    const double exact = *row.step_time_s;
    row.step_time_s = exact * 1.02;
    const FitResult near = must(fit_stack(generic, generic.fit.front(), {row}));
    EXPECT_EQ(near.time_share, 0);
    EXPECT_NEAR(*predict_row(near.stack, row).step_time_s, exact, exact * 1e-3);
    row.step_time_s = exact * 1.5;
    const FitResult far = must(fit_stack(generic, generic.fit.front(), {row}));
    EXPECT_GT(far.time_share, 0.9);
    EXPECT_GT(*predict_row(far.stack, row).step_time_s, exact * 1.35);
    FitOptions whole;
    whole.shrink = false;
    EXPECT_EQ(must(fit_stack(generic, generic.fit.front(), {row}, whole)).time_share, 1);
}

} // namespace
} // namespace fourfold::test
