// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/pipeline_ends.h"
#include "core/schedule/timeline.h"

#include <gtest/gtest.h>

#include <random>

namespace fourfold {
namespace {

struct Pipeline {
    Schedule schedule = Schedule::one_f_one_b;
    std::vector<StageRun> runs;
    int micro_batches = 1;
    double hop = 0;
};

// When the first stage of every run ends, by event simulation.
std::vector<double> simulated(const Pipeline& pipeline)
{
    ScheduleTimes times;
    std::vector<int> firsts;
    for (const StageRun& run : pipeline.runs) {
        firsts.push_back(int(times.chunks.size()));
        for (int i = 0; i < run.stages; ++i)
            times.chunks.push_back({run.forward_s, run.backward_s, 0});
    }
    times.send_receive_s = pipeline.hop;
    const int stages = int(times.chunks.size());
    const Timeline timeline = simulate(*make_schedule(pipeline.schedule, stages, 1, pipeline.micro_batches), times, 1);
    std::vector<double> all(times.chunks.size(), 0), ends;
    for (const Span& span : timeline.spans)
        all[std::size_t(span.stage)] = std::max(all[std::size_t(span.stage)], span.end_s);
    for (const int first : firsts)
        ends.push_back(all[std::size_t(first)]);
    return ends;
}

void expect_same(const Pipeline& pipeline, int round)
{
    PipelineEnds ends;
    const auto formula = ends(pipeline.schedule, pipeline.runs, pipeline.micro_batches, pipeline.hop);
    const std::vector<double> expected = simulated(pipeline);
    ASSERT_EQ(formula.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(formula[i], expected[i], 1e-12 * expected[i])
            << "round " << round << ", run " << i << " of " << expected.size() << ", " << pipeline.micro_batches
            << " micro-batches";
}

TEST(PipelineEnds, EqualTheSimulationOnRandomPipelines)
{
    std::mt19937 random(3);
    const auto uniform = [&](double from, double to) { return std::uniform_real_distribution(from, to)(random); };
    for (int round = 0; round < 4000; ++round) {
        Pipeline pipeline;
        pipeline.schedule = random() % 3 == 0 ? Schedule::gpipe : Schedule::one_f_one_b;
        int stages = 0;
        const int runs = 1 + int(random() % 5);
        const double forward = uniform(0.5, 2), backward = forward * uniform(0.5, 3);
        for (int i = 0; i < runs; ++i) {
            // Stages of a real model differ a little; those of every third round differ wildly.
            const double spread = round % 3 == 0 ? 3 : 0.2;
            pipeline.runs.push_back(
                {1 + int(random() % 4), forward + uniform(0, spread), backward + uniform(0, spread)});
            stages += pipeline.runs.back().stages;
        }
        pipeline.micro_batches = 1 + int(random() % (2 * std::size_t(stages) + 8)); // often fewer than stages
        pipeline.hop = round % 2 == 0 ? 0 : uniform(0, 0.5);
        expect_same(pipeline, round);
    }
}

TEST(PipelineEnds, OneStageIsItsMicroBatches)
{
    const std::vector<StageRun> one{{1, 2, 3}};
    PipelineEnds ends;
    EXPECT_DOUBLE_EQ(ends(Schedule::one_f_one_b, one, 1, 9).front(), 5);
    EXPECT_DOUBLE_EQ(ends(Schedule::one_f_one_b, one, 7, 9).front(), 35);
}

TEST(PipelineEnds, SaysWhereItHasNoFormula)
{
    EXPECT_TRUE(has_pipeline_formula(Schedule::one_f_one_b, 4, 1));
    EXPECT_TRUE(has_pipeline_formula(Schedule::gpipe, 4, 1));
    EXPECT_TRUE(has_pipeline_formula(Schedule::zb_h1, 1, 1)) << "one stage just accumulates";
    EXPECT_FALSE(has_pipeline_formula(Schedule::interleaved, 4, 2));
    EXPECT_FALSE(has_pipeline_formula(Schedule::zb_h1, 4, 1));
    EXPECT_FALSE(has_pipeline_formula(Schedule::gpipe, 0, 1));
}

} // namespace
} // namespace fourfold
