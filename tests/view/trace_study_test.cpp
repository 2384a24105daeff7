// SPDX-License-Identifier: GPL-3.0-or-later
// Traces beside predictions, and timelines of kernels: coverage from the grid against counting, search, words.
#include "app/view/prediction/kernel_words.h"
#include "app/view/trace/trace_study.h"
#include "core/plan/presets.h"
#include "core/schedule/chrome_trace.h"
#include "tests/kineto_trace.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>

#include <fstream>
#include <random>

namespace fourfold::view {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class Study : public testing::Test {
protected:
    test::TemporaryFolder folder;

    [[nodiscard]] std::shared_ptr<const StepTrace> trace(int rank) const
    {
        const auto file = folder.path() / "trace.json";
        std::ofstream(file) << test::kineto_trace(rank).dump();
        auto read = read_step_trace(file);
        EXPECT_TRUE(read) << read.error().line();
        return std::make_shared<const StepTrace>(*std::move(read));
    }
    static TraceBeside plan(int gpus)
    {
        const auto resolved
            = resolve(*plan_from_json({{"model", "llama-3.1-8b"}, {"cluster", "dgx-h100"}, {"gpus", gpus},
                                          {"stack", "torchtitan"}, {"layout", {{"pp", gpus / 4}, {"dp", 4}}},
                                          {"training", {{"global_batch", 32}, {"micro_batch", 1}, {"seq_len", 4096}}}},
                          ""),
                Presets());
        EXPECT_TRUE(resolved) << resolved.error().line();
        return {"the plan", std::make_shared<const Prediction>(predict(*resolved)), {}};
    }
};

TEST_F(Study, RanksStandBesideTheStagesThatTheyAreOf)
{
    const TraceBeside beside = plan(8);
    const auto study = study_traces({trace(5), trace(1)}, beside);
    ASSERT_TRUE(study) << study.error().line();
    EXPECT_TRUE(study->remarks.empty());
    EXPECT_EQ(study->measured.rows(), 6);
    EXPECT_EQ(study->measured.row_name(0), "rank 1, stream 7, compute");
    EXPECT_EQ(study->predicted.row_name(0), "stage 0, compute");
    bool has_second = false;
    for (int row = 0; row < study->predicted.rows(); ++row)
        has_second = has_second || study->predicted.row_name(row).starts_with("stage 1");
    EXPECT_TRUE(has_second) << "rank 5 of 8 is of the second of two stages";
    ASSERT_EQ(study->ranks.size(), 2u);
    EXPECT_EQ(study->ranks[0].rank, 1);
    ASSERT_FALSE(study->ranks[0].parts.rows.empty());
    const auto& step = study->ranks[0].parts.rows.back();
    EXPECT_EQ(std::get<std::string>(step[0]), "step");
    EXPECT_EQ(std::get<double>(step[1]), *beside.prediction->step_time_s);
    EXPECT_NEAR(std::get<double>(step[2]), 1e-3, 1e-12);
    EXPECT_NEAR(std::get<double>(step[3]), 1e-3 - *beside.prediction->step_time_s, 1e-9);
    EXPECT_EQ(std::get<std::string>(study->ranks[0].collectives.rows.at(0)[1]), "fsdp");
    EXPECT_EQ(study->length_s, std::max(study->predicted.length(), study->measured.length()));
    EXPECT_EQ(common_steps({trace(5), trace(1)}), (std::vector<std::int64_t>{3, 4}));
    EXPECT_THAT(study->measured_words, HasSubstr("step 4, 2 ranks, 12 kernels, NVIDIA H100"));

    const auto other = study_traces({trace(5)}, plan(16));
    ASSERT_TRUE(other);
    EXPECT_THAT(other->remarks, Contains("the profiled training has 8 ranks, the plan 16 GPUs"));
    const auto none = study_traces({trace(5)}, beside, 99);
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().line(), HasSubstr("no step 99"));
    const auto alone = study_traces({}, beside);
    ASSERT_TRUE(alone);
    EXPECT_GT(alone->predicted.rows(), 1);
    EXPECT_EQ(alone->measured.rows(), 0);
}

// Of other steps, of another job, opened twice: bars beside each other would look like one step.
TEST_F(Study, TracesThatAreNoRanksOfOneStepAreSaid)
{
    const auto changed = [this](int rank, const std::function<void(Profile&)>& change) {
        auto copy = std::make_shared<StepTrace>(*trace(rank));
        change(*copy->profile);
        return copy;
    };
    const auto remarks = [](const Traces& traces) {
        const auto study = study_traces(traces, {});
        return study ? study->remarks : std::vector<std::string>{study.error().line()};
    };
    EXPECT_THAT(remarks({trace(1), trace(1)}), Contains(HasSubstr("several traces say that they are of rank 1")));
    EXPECT_THAT(remarks({trace(1), changed(2, [](Profile& profile) { profile.ranks = 64; })}),
        Contains("the traces are of trainings with 8 and 64 ranks"));
    EXPECT_THAT(remarks({trace(1),
                    changed(2,
                        [](Profile& profile) {
                            for (ProfiledStep& step : profile.steps)
                                step.number += 100;
                        })}),
        Contains(HasSubstr("no step in common")));
    EXPECT_THAT(remarks({trace(1), trace(2)}), testing::IsEmpty());
}

TEST_F(Study, TracesOfStagesHaveTheirPartsAsTerms)
{
    const Timeline planned{1, 3, {{0, SpanKind::forward, 0, 0, 0, 1}, {0, SpanKind::backward, 0, 0, 1, 3}}};
    const Timeline measured{1, 4, {{0, SpanKind::forward, 0, 0, 0, 1.5}, {0, SpanKind::backward, 0, 0, 1.5, 4}}};
    const auto traced = std::make_shared<const StepTrace>(StepTrace{"traced", {}, measured});
    const auto study = study_traces({traced}, {"planned", nullptr, planned});
    ASSERT_TRUE(study);
    EXPECT_FALSE(study->measured.has_kernels());
    ASSERT_EQ(study->ranks.size(), 1u);
    const Table& parts = study->ranks[0].parts;
    EXPECT_EQ(std::get<std::string>(parts.rows.back()[0]), "step");
    EXPECT_EQ(std::get<double>(parts.rows.back()[3]), 1);
    EXPECT_TRUE(study->ranks[0].collectives.columns.empty());
    EXPECT_FALSE(study_traces({traced, trace(1)}, {"planned", nullptr, planned})) << "kernels stand among no stages";
}

TEST_F(Study, KernelsAreToldAndFound)
{
    const auto study = study_traces({trace(5)}, {});
    ASSERT_TRUE(study);
    const TimelineScene& scene = study->measured;
    const std::vector<std::string> product = kernel_lines(scene, *scene.at(0, 250e-6));
    EXPECT_THAT(product[0], HasSubstr("nvjet"));
    EXPECT_EQ(product[1], "matrix product, layer 3; rank 5, stream 7, compute");
    EXPECT_THAT(product.back(), HasSubstr("4.29 GFLOP: 14.3 TFLOP/s"));
    const std::vector<std::string> gather = kernel_lines(scene, *scene.at(1, 400e-6));
    EXPECT_EQ(gather.back(), "_allgather_base of 16.4 kB, fsdp, 8 ranks: 32.8 MB/s");
    const std::vector<bool> named = kernels_named(scene, "FLASH");
    const auto wanted = [&](const TimelineBar& bar) { return bool(named[bar.facts]); };
    const auto found = scene.next({}, true, wanted);
    ASSERT_TRUE(found);
    EXPECT_THAT(kernel_lines(scene, *found)[0], HasSubstr("flash_fwd"));
    EXPECT_EQ(scene.next(found, true, wanted), found) << "round the end";
    EXPECT_FALSE(scene.next({}, true, [](const TimelineBar&) { return false; }));
    const auto any = [](const TimelineBar&) { return true; };
    auto at = scene.next({}, true, any);
    std::vector<BarRef> walked{*at};
    for (std::size_t i = 1; i < scene.barCount(); ++i)
        walked.push_back(*(at = scene.next(at, true, any)));
    EXPECT_EQ(scene.next(at, true, any), walked.front());
    for (std::size_t i = walked.size(); i-- > 1;)
        EXPECT_EQ(scene.next(walked[i], false, any), walked[i - 1]);
}

// Bars that overlap, touch and have gaps: what a column of the grid says is what counting the bars gives.
TEST(CoverageGrid, IsTheCoverageThatCountingGives)
{
    std::mt19937 random(3);
    std::uniform_real_distribution<double> any(0, 1);
    KernelTimeline timeline;
    timeline.length_s = 10;
    timeline.facts = {{"a", KernelKind::product, {}, {}, 0, 0, 0}, {"b", KernelKind::communication, {}, {}, 0, 0, 0}};
    timeline.tracks.resize(1);
    for (int i = 0; i < 20'000; ++i) {
        const double start = 10 * any(random), length = any(random) < 0.001 ? 2 : 0.0004 * any(random);
        timeline.tracks[0].spans.push_back({start, std::min(10.0, start + length), i % 3 == 0 ? 1u : 0u, -1, -1});
    }
    const TimelineScene scene(timeline);
    ASSERT_FALSE(scene.grid(0).is_fine(1e-4));
    for (const auto& [begin, end] : {std::pair{0.0, 10.0}, {1.3, 4.7}}) {
        constexpr std::size_t kColumns = 500;
        const double column = (end - begin) / kColumns;
        ASSERT_TRUE(scene.grid(0).is_fine(column));
        std::vector<CoverageGrid::Coverage> drawn(kColumns, CoverageGrid::Coverage{}), counted = drawn;
        scene.grid(0).add(begin, end, drawn);
        for (const TimelineBar& bar : scene.row(0)) {
            for (std::size_t i = 0; i < kColumns; ++i) {
                const double from = begin + double(i) * column;
                counted[i][static_cast<std::size_t>(bar.kind)] += static_cast<float>(
                    std::max(0.0, std::min(bar.end_s, from + column) - std::max(bar.start_s, from)) / column);
            }
        }
        double sum_drawn = 0, sum_counted = 0;
        for (std::size_t i = 0; i < kColumns; ++i) {
            for (std::size_t kind = 0; kind < kBarKinds; ++kind) {
                EXPECT_NEAR(drawn[i][kind], counted[i][kind], 0.2) << i << " " << kind;
                sum_drawn += drawn[i][kind];
                sum_counted += counted[i][kind];
            }
        }
        EXPECT_NEAR(sum_drawn / sum_counted, 1, 1e-3);
    }
    std::size_t longs = 0, counted = 0;
    scene.for_each_long(0, 2, 6, 1, [&](std::size_t) { ++longs; });
    for (const TimelineBar& bar : scene.row(0))
        counted += bar.end_s - bar.start_s >= 1 && bar.start_s < 6 && bar.end_s > 2 ? 1 : 0;
    EXPECT_EQ(longs, counted);
    EXPECT_GT(longs, 0u);
}

} // namespace
} // namespace fourfold::view
