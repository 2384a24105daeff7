// SPDX-License-Identifier: GPL-3.0-or-later
// What window and terminal take for their pictures: points of rows, bars of a comparison, spans of a timeline; and the
// words for a shell.
#include "app/view/command_line.h"
#include "app/view/compare/comparison_bars.h"
#include "app/view/points.h"
#include "app/view/prediction/timeline_rulers.h"
#include "core/base/shell_word.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace fourfold::view {
namespace {

using testing::ElementsAre;

TEST(RowPoints, GoAlongXAndAreFound)
{
    const RowPoints points({{0, 3, 30}, {1, 1, 10}, {2, 2, NAN}, {3, 2, 20}});
    ASSERT_EQ(points.all().size(), 3U) << "what has no place is none";
    EXPECT_EQ(points.beside(1, 1), 3);
    EXPECT_EQ(points.beside(3, 1), 0);
    EXPECT_EQ(points.beside(0, 1), 0) << "the end";
    EXPECT_EQ(points.beside(2, 1), 1) << "from a row without a point";
    EXPECT_EQ(points.beside(2, -1), 0);
    EXPECT_EQ(RowPoints().beside(0, 1), -1);
    const auto away = [](const RowPoint& point) { return std::pair(point.x - 2.1, point.y - 19); };
    EXPECT_EQ(points.nearest(away, 5), 3);
    EXPECT_EQ(points.nearest(away, 0.5), -1);
}

Prediction prediction_of(double tps, double tp_s, std::vector<StageMemory> stages)
{
    Prediction prediction;
    prediction.tps_per_gpu = tps;
    prediction.mfu_bf16_peak = 0.4;
    prediction.step_time_s = 2 + tp_s;
    prediction.time_by_part[Part::compute] = 2;
    prediction.time_by_part[Part::tp] = tp_s;
    prediction.memory_by_stage = std::move(stages);
    return prediction;
}

TEST(ComparisonBars, HaveMeasurementsKindsAndParts)
{
    const Prediction one = prediction_of(100, 0, {{0, 1, 2, 3, 4, 5}, {1, 10, 2, 3, 4, 5}}),
                     two = prediction_of(50, 1, {});
    const ComparedEntry entries[]{{"one", &one, 110}, {"two", &two}, {"none", nullptr}};
    const BarChart throughput = comparison_bars(entries, ComparedFigure::throughput);
    ASSERT_EQ(throughput.rows.size(), 3U);
    EXPECT_EQ(throughput.rows[1].name, "one, measured");
    EXPECT_THAT(throughput.rows[1].parts, ElementsAre(0, 110)) << "in the colour of the second kind";
    EXPECT_EQ(throughput.kinds.size(), 2U);
    const BarChart mfu = comparison_bars(entries, ComparedFigure::mfu);
    EXPECT_THAT(mfu.rows[0].parts, ElementsAre(0.4)) << "of the BF16 peak, where there is no other";
    EXPECT_NEAR(mfu.rows[1].parts[1], 0.44, 1e-9);
    const BarChart memory = comparison_bars(entries, ComparedFigure::memory);
    EXPECT_THAT(memory.rows[0].parts, ElementsAre(10, 2, 3, 4, 5)) << "the fullest stage";
    EXPECT_TRUE(memory.rows[1].parts.empty() && memory.rows[2].parts.empty());
    const BarChart step = comparison_bars(entries, ComparedFigure::step_time);
    ASSERT_EQ(step.kinds.size(), 2U) << "parts that one of them has";
    EXPECT_THAT(step.rows[1].parts, ElementsAre(2, 1));
    EXPECT_EQ(step.rows[1].text, "3.00 s");
    EXPECT_TRUE(step.rows[2].parts.empty());
}

TEST(TimelineRulers, SayWhereTheTimeGoes)
{
    const TimelineScene scene(
        Timeline{2, 4, {{0, SpanKind::forward, 0, 0, 0, 2}, {1, SpanKind::backward, 0, 0, 2, 4}}});
    EXPECT_EQ(measured_text(scene, 0, 2), "2.00 s from 0.00 s on: forward 50.0 %, idle 50.0 %");
    EXPECT_EQ(shares_text(scene, 1, 3), "forward 25.0 %, backward 25.0 %, idle 50.0 %");
    std::vector<double> marks{1, 3};
    toggle_mark(marks, 2, 0.1);
    toggle_mark(marks, 3.05, 0.1);
    EXPECT_THAT(marks, ElementsAre(1, 2)) << "the one that is there goes";
}

TEST(CommandLine, TakesAnyWord)
{
    EXPECT_EQ(command_line({"predict", "a b.plan.json", "", "it's"}), "fourfold predict 'a b.plan.json' 'it'\\''s'");
    EXPECT_EQ(shell_word(""), "''");
    EXPECT_EQ(shell_word("$(x)"), "'$(x)'");
}

} // namespace
} // namespace fourfold::view
