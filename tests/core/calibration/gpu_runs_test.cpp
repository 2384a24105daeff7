// SPDX-License-Identifier: GPL-3.0-or-later
// The runs of the bundled trainer on GPUs that are kept beside the benchmarks: read whole, able to run, and what the
// shipped constants say of them.
#include "core/calibration/measured_table.h"
#include "core/plan/trainable.h"
#include "core/predict/prediction.h"
#include "tests/core/calibration/presets_of_tests.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

namespace fourfold::test {
namespace {

MeasuredTable runs_of(const std::filesystem::path& file)
{
    auto table = read_measured_table(file, {}, presets());
    EXPECT_TRUE(table) << table.error().line();
    return std::move(*table);
}

TEST(RunsOnGpus, AreWhatTheShippedConstantsSay)
{
    const auto folder = std::filesystem::path(FOURFOLD_SOURCE_DIR) / "tests" / "bench" / "gpu";
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const MeasuredTable table = runs_of(entry.path());
        for (const Problem& problem : table.problems)
            ADD_FAILURE() << problem.line();
        ++files;
        double sum = 0;
        for (const MeasuredRow& row : table.rows) {
            EXPECT_TRUE(trainer_limits_of_prediction(row.plan).empty()) << row.row;
            const Prediction said = predict(row.plan);
            ASSERT_TRUE(said.tps_per_gpu && row.tps_per_gpu && said.memory_gib && row.memory_gib) << row.row;
            const double off = *said.tps_per_gpu / *row.tps_per_gpu - 1;
            sum += std::abs(off);
            EXPECT_LT(std::abs(off), 0.2) << row.row;
            EXPECT_NEAR(*said.memory_gib / *row.memory_gib, 1, 0.05) << row.row;
        }
        EXPECT_LT(sum / double(table.rows.size()), 0.04)
            << entry.path().filename() << ", " << table.rows.size() << " rows";
    }
    EXPECT_EQ(files, 2);
}

} // namespace
} // namespace fourfold::test
