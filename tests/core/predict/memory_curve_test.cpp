// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/memory_curve.h"

#include "core/plan/presets.h"

#include <gtest/gtest.h>

namespace fourfold {
namespace {

Prediction predicted(const std::string& id, const std::vector<std::string>& changes = {})
{
    const Presets presets;
    Plan plan = read_plan(presets.file("plans", id).value()).value();
    for (const std::string& change : changes)
        plan = with_assignment(plan, change).value();
    return predict(resolve(plan, presets).value());
}

TEST(MemoryCurve, HasThePeakOfEveryStage)
{
    for (const char* id : {"llama-3.1-8b-tsubame4-16", "llama-3.1-405b-torchtitan-512", "this-computer"}) {
        const Prediction prediction = predicted(id);
        for (const StageMemory& stage : prediction.memory_by_stage) {
            const MemoryCurve curve = memory_over_time(prediction, stage.stage);
            ASSERT_FALSE(curve.points.empty()) << id;
            EXPECT_NEAR(curve.peak_gib + curve.beyond_gib, stage.total(), 1e-9 * stage.total()) << id;
            EXPECT_LE(curve.peak_gib, stage.total() * (1 + 1e-9)) << id;
        }
    }
}

TEST(MemoryCurve, IsAStepWithoutGaps)
{
    const Prediction prediction = predicted("llama-3.1-405b-torchtitan-512");
    const MemoryCurve curve = memory_over_time(prediction, 0);
    double end = 0;
    for (const MemoryPoint& point : curve.points) {
        EXPECT_EQ(point.start_s, end);
        EXPECT_GT(point.end_s, point.start_s);
        EXPECT_GT(point.total(), 0);
        end = point.end_s;
    }
    EXPECT_NEAR(end, prediction.timeline.length_s, 1e-9 * end);
    // Activations build up during the warm-up and are gone at the end.
    EXPECT_LT(curve.points.front().gib[3], curve.peak_gib);
    EXPECT_LT(curve.points.back().gib[3], 0.01 * curve.peak_gib + 1e-9);
}

TEST(MemoryCurve, IsEmptyWhereThereIsNothing)
{
    const Prediction prediction = predicted("llama-3.1-8b-tsubame4-16");
    EXPECT_TRUE(memory_over_time(prediction, -1).points.empty());
    EXPECT_TRUE(memory_over_time(prediction, 1).points.empty());
    EXPECT_TRUE(memory_over_time(predicted("llama-3.1-8b-tsubame4-16", {"layout.tp=3"}), 0).points.empty());
}

} // namespace
} // namespace fourfold
