// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/sweep.h"

#include "tests/core/search/search_plans.h"

#include <gmock/gmock.h>

namespace fourfold {
namespace {

TEST(Sweep, EveryCellIsThePredictionOfItsPlan)
{
    const ResolvedPlan base = search_plan("llama-3.1-8b", "dgx-h100", 16, 64);
    const std::vector<GridLayout> layouts{{2, 1, 1, 1, 1}, {2, 1, 2, 2, 2}, {1, 1, 1, 16, 1}, {3, 1, 1, 1, 1}};
    int told = 0;
    const LayoutGrid grid = sweep_layouts(base, layouts, {4, 8, 16}, 3, [&](auto, auto, const GridCell&) { ++told; });
    EXPECT_EQ(told, 12);
    for (std::size_t row = 0; row < layouts.size(); ++row) {
        for (std::size_t column = 0; column < grid.gpus.size(); ++column) {
            const GridCell& cell = grid.cells[row][column];
            const auto plan = plan_of_cell(base, layouts[row], grid.gpus[column]);
            if (!plan) {
                EXPECT_EQ(cell.status, GridStatus::impossible);
                EXPECT_EQ(cell.reason.message, plan.error().message);
                continue;
            }
            EXPECT_EQ(plan->layout.dp * plan->layout.tp * plan->layout.pp, grid.gpus[column]);
            EXPECT_EQ(plan->training.micro_batches, std::max(1, 64 / (plan->training.micro_batch * plan->layout.dp)));
            const Prediction prediction = predict(*plan);
            EXPECT_EQ(cell.status == GridStatus::runs, prediction.feasible);
            EXPECT_EQ(cell.tps_per_gpu, prediction.tps_per_gpu);
            EXPECT_EQ(cell.memory_gib, prediction.memory_gib);
            EXPECT_EQ(value_of(cell, GridValue::mfu), prediction.feasible ? prediction.mfu : std::nullopt);
        }
    }
    // 16 sequences of 8192 tokens on one GPU: known, but more than it holds.
    EXPECT_EQ(grid.cells[2][0].status, GridStatus::does_not_fit);
    EXPECT_EQ(grid.cells[2][0].reason.code, "memory");
    EXPECT_TRUE(grid.cells[2][0].memory_gib);
    EXPECT_FALSE(value_of(grid.cells[2][0], GridValue::memory_gib));
    EXPECT_THAT(grid.cells[3][0].reason.message, testing::HasSubstr("does not divide 4 GPUs"));
}

TEST(Sweep, VirtualStagesAreAnInterleavedSchedule)
{
    const ResolvedPlan base = search_plan("llama-3.1-8b", "dgx-h100", 16, 64);
    EXPECT_EQ(plan_of_cell(base, {1, 1, 4, 1, 2}, 16)->training.schedule, Schedule::interleaved);
    EXPECT_EQ(plan_of_cell(base, {1, 1, 4, 1, 1}, 16)->training.schedule, Schedule::one_f_one_b);
    EXPECT_EQ(plan_of_cell(base, {1, 1, 4, 1, 2}, 16)->layout.stage_layers.size(), 8u);
    EXPECT_FALSE(plan_of_cell(base, {8, 2, 2, 1, 1}, 16));
    EXPECT_FALSE(plan_of_cell(base, {1, 1, 1, 40000, 1}, 16));
}

TEST(Sweep, ValuesByName)
{
    for (const std::string& name : spellings<GridValue>())
        EXPECT_EQ(std::string(fourfold::name(*from_text<GridValue>(name, ""))), name);
    const auto unknown = from_text<GridValue>("memory", "--value");
    ASSERT_FALSE(unknown);
    EXPECT_THAT(unknown.error().line(), testing::HasSubstr("expected one of tps_per_gpu"));
}

} // namespace
} // namespace fourfold
