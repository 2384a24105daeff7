// SPDX-License-Identifier: GPL-3.0-or-later
// What predict() answers where a plan breaks a rule, does not fit, or is huge. It never fails.
#include "core/predict/explain.h"
#include "core/predict/fit.h"
#include "core/predict/prediction.h"
#include "core/search/evaluator.h"
#include "tests/core/predict/random_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace fourfold::test {
namespace {

using testing::HasSubstr;
using testing::Not;

bool has_code(const Prediction& p, const std::string& code)
{
    return std::any_of(p.reasons.begin(), p.reasons.end(), [&](const Reason& reason) { return reason.code == code; });
}

Json llama(int gpus, Json layout, Json training = Json::object(), const char* cluster = "dgx-h100",
    const char* stack = "megatron-lm")
{
    return {{"model", "llama-3.1-8b"}, {"cluster", cluster}, {"gpus", gpus}, {"stack", stack}, {"layout", layout},
        {"training", training}};
}

TEST(Answers, EveryExamplePlanIsFeasible)
{
    const auto folder = std::filesystem::path(FOURFOLD_SOURCE_DIR) / "presets" / "plans";
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string file = entry.path().filename().string();
        const Prediction p = predict(example(file.substr(0, file.find(".plan.json"))));
        EXPECT_TRUE(p.feasible) << file << ": " << (p.reasons.empty() ? "" : p.reasons[0].message);
        EXPECT_TRUE(p.step_time_s) << file;
        ++count;
    }
    EXPECT_GE(count, 13);
}

TEST(Answers, FitRule)
{
    EXPECT_EQ(judge_fit(80, 80), Fit::tight);
    EXPECT_EQ(judge_fit(80.001, 80), Fit::no);
    EXPECT_EQ(judge_fit(75.3, 80), Fit::tight);
    EXPECT_EQ(judge_fit(75.1, 80), Fit::fits);
    EXPECT_EQ(judge_fit(0, 0), Fit::fits);
}

TEST(Answers, OutOfMemoryIsAReasonWithNumbersAndTheRestIsThere)
{
    const Prediction p = predict(resolved({{"model", "llama-3.1-70b"}, {"cluster", "dgx-h100"}, {"gpus", 8},
        {"stack", "megatron-lm"}, {"layout", {{"tp", 1}, {"dp", 8}}}, {"training", {{"seq_len", 8192}}}}));
    EXPECT_FALSE(p.feasible);
    EXPECT_EQ(p.fit, Fit::no);
    ASSERT_TRUE(has_code(p, "memory"));
    EXPECT_THAT(p.reasons.back().message, HasSubstr("79.1 GiB"));
    EXPECT_EQ(p.reasons.back().field, "layout");
    EXPECT_TRUE(p.step_time_s);
    EXPECT_GT(*p.memory_gib, 79.1);
}

// A release that is not known is predicted as the nearest, less sure of it, and says so in one line.
TEST(Answers, AReleaseThatIsNotKnownIsSaidAndWider)
{
    const auto answer = [](const char* stack, const char* cluster = "dgx-h100") {
        return predict(resolved(llama(8, {{"tp", 2}, {"dp", 4}}, Json::object(), cluster, stack)));
    };
    const auto lines = [](const Prediction& p) {
        return std::count_if(p.warnings.begin(), p.warnings.end(),
            [](const std::string& text) { return text.find("release") != std::string::npos; });
    };
    const auto width = [](const Prediction& p) { return p.interval->step_time_s.high / *p.step_time_s; };
    const Prediction plain = answer("megatron-core"), known = answer("megatron-core@25.09"),
                     unknown = answer("megatron-core@v25.10");
    ASSERT_TRUE(plain.interval && known.interval && unknown.interval);
    EXPECT_EQ(known.step_time_s, plain.step_time_s);
    EXPECT_EQ(known.interval->step_time_s.high, plain.interval->step_time_s.high);
    EXPECT_EQ(known.evidence, Evidence::calibrated);
    EXPECT_EQ(lines(known), 0);
    EXPECT_EQ(unknown.step_time_s, plain.step_time_s);
    EXPECT_GT(width(unknown), width(plain) * 1.02);
    EXPECT_EQ(unknown.evidence, Evidence::extrapolated);
    EXPECT_EQ(lines(unknown), 1);
    EXPECT_THAT(unknown.warnings,
        testing::Contains(
            "release 25.10 of stack megatron-core is not known: predicted as 25.09, the nearest that is"));

    const Prediction there = answer("megatron-core@26.02", "gb300-nvl72"),
                     not_there = answer("megatron-core@25.02", "gb300-nvl72");
    EXPECT_EQ(there.evidence, Evidence::calibrated);
    EXPECT_EQ(not_there.evidence, Evidence::extrapolated);
    EXPECT_GT(width(not_there), width(there) * 1.02);
    EXPECT_THAT(
        not_there.warnings, testing::Contains(HasSubstr("release 25.02 of stack megatron-core was not measured on")));

    const Prediction nothing = answer("generic@1.0");
    EXPECT_EQ(lines(nothing), 1);
    EXPECT_EQ(width(nothing), width(answer("generic"))) << "nothing of it is measured, whatever the release";
}

TEST(Answers, HeadsThatDoNotDivideLeaveMemoryButNoTime)
{
    const Prediction p = predict(resolved(llama(12, {{"tp", 3}, {"dp", 4}})));
    EXPECT_TRUE(has_code(p, "heads_not_divisible"));
    EXPECT_FALSE(p.feasible);
    EXPECT_FALSE(p.step_time_s);
    EXPECT_FALSE(p.tps_per_gpu || p.mfu || p.interval);
    ASSERT_TRUE(p.memory_gib);
    EXPECT_GT(*p.memory_gib, 1);
}

TEST(Answers, DegreesThatDoNotMultiplyLeaveNothing)
{
    const Prediction p = predict(resolved(llama(16, {{"tp", 2}, {"cp", 1}, {"pp", 1}, {"dp", 4}})));
    EXPECT_FALSE(p.reasons.empty());
    EXPECT_FALSE(p.feasible || p.step_time_s || p.memory_gib);
    EXPECT_TRUE(p.memory_by_stage.empty());
}

TEST(Answers, MoreStagesThanLayersLeavesNothingButReasons)
{
    const Prediction p = predict(resolved(llama(64, {{"tp", 1}, {"pp", 64}, {"dp", 1}})));
    EXPECT_TRUE(has_code(p, "more_stages_than_layers"));
    EXPECT_FALSE(p.feasible || p.step_time_s);
}

TEST(Answers, ZeroBubbleSchedulesIdleLess)
{
    const auto with = [](const char* schedule, int virtual_stages, int micro_batches) {
        const Json layout{{"tp", 2}, {"pp", 4}, {"dp", 2}, {"virtual_stages", virtual_stages}};
        return predict(resolved(llama(16, layout, {{"schedule", schedule}, {"micro_batches", micro_batches}})));
    };
    for (const int micro_batches : {8, 16, 200'000}) {
        const Prediction plain = with("1f1b", 1, micro_batches), h1 = with("zb-h1", 1, micro_batches),
                         v = with("zb-v", 2, micro_batches);
        ASSERT_TRUE(plain.step_time_s && h1.step_time_s && v.step_time_s) << micro_batches;
        EXPECT_TRUE(h1.feasible && v.feasible);
        EXPECT_LT(h1.time_by_part[Part::bubble], plain.time_by_part[Part::bubble]);
        EXPECT_LT(*h1.step_time_s, *plain.step_time_s);
        EXPECT_NEAR(h1.time_by_part[Part::compute], plain.time_by_part[Part::compute],
            1e-9 * plain.time_by_part[Part::compute]);
        EXPECT_EQ(h1.time_by_part.total(), *h1.step_time_s);
        EXPECT_EQ(v.time_by_part.total(), *v.step_time_s);
        bool parted = false;
        for (const Span& span : h1.timeline.spans)
            parted = parted || span.kind == SpanKind::weight_gradient;
        EXPECT_TRUE(parted);
        // Every stage holds as many micro-batches as the first stage of 1F1B.
        EXPECT_GT(h1.memory_by_stage[3].activations, plain.memory_by_stage[3].activations);
    }
    EXPECT_TRUE(predict(resolved(llama(16, {{"tp", 2}, {"dp", 8}}, {{"schedule", "zb-h1"}}))).step_time_s)
        << "without a pipeline there is nothing to split";
}

TEST(Answers, AScheduleFileThatIsMissingIsNamed)
{
    const Prediction p = predict(
        resolved(llama(16, {{"tp", 2}, {"pp", 4}, {"dp", 2}}, {{"schedule", "my.csv"}, {"micro_batches", 8}})));
    ASSERT_TRUE(has_code(p, "schedule_file"));
    EXPECT_EQ(p.reasons.back().field, "training.schedule");
    EXPECT_THAT(p.reasons.back().message, HasSubstr("\"my.csv\" does not exist"));
    EXPECT_FALSE(p.feasible || p.step_time_s);
}

TEST(Answers, AdvisesMoreMicroBatchesWhereThePipelineIdles)
{
    const auto warnings = [](int micro_batches, const char* stack = "generic", int pp = 4) {
        Json plan = llama(16, {{"tp", 16 / pp / 2}, {"pp", pp}, {"dp", 2}}, {{"micro_batches", micro_batches}});
        plan["stack"] = stack;
        std::string all;
        for (const std::string& warning : predict(resolved(plan)).warnings)
            all += warning + "\n";
        return all;
    };
    EXPECT_THAT(warnings(6), HasSubstr("k ~ 3p = 12 (global_batch 24)"));
    EXPECT_THAT(warnings(24), Not(HasSubstr("3p")));
    EXPECT_THAT(warnings(3), HasSubstr("3 micro-batches never fill a pipeline of 4 stages"));
    EXPECT_THAT(warnings(3, "torchtitan"), HasSubstr("torchtitan's 1F1B stops"));
    EXPECT_THAT(warnings(4), Not(HasSubstr("never fill")));
}

TEST(Answers, SaysWhenAStackWouldNotMakeTheStages)
{
    Json plan = llama(15, {{"tp", 1}, {"pp", 5}, {"dp", 3}}, {{"micro_batches", 20}});
    plan["stack"] = "megatron-lm";
    const auto said = [&] {
        std::string all;
        for (const std::string& warning : predict(resolved(plan)).warnings)
            all += warning + "\n";
        return all;
    };
    EXPECT_THAT(said(), HasSubstr("5 chunks do not divide 32 layers"));
    plan["layout"]["stage_layers"] = {6, 7, 7, 7, 5};
    EXPECT_THAT(said(), Not(HasSubstr("do not divide")));
}

TEST(Answers, HugeBatchesExtendTheSteadyState)
{
    const auto with_batch = [&](int micro_batches) {
        return predict(resolved(llama(16, {{"tp", 2}, {"pp", 4}, {"dp", 2}}, {{"micro_batches", micro_batches}})));
    };
    const Prediction small = with_batch(1000), large = with_batch(10'000'000);
    ASSERT_TRUE(small.step_time_s && large.step_time_s);
    // The same pipeline, ten thousand times as long: its fill and the step's end vanish.
    const double per_micro_batch = *small.step_time_s / 1000;
    EXPECT_NEAR(*large.step_time_s / 10'000'000, per_micro_batch, per_micro_batch * 0.02);
    EXPECT_EQ(large.time_by_part.total(), *large.step_time_s);
    EXPECT_EQ(*large.memory_gib, *small.memory_gib);
}

// A model of a thousand thin layers, one a stage.
Json long_pipeline(int stages, int virtual_stages, const char* schedule, int micro_batches)
{
    const Json model{{"model_type", "llama"}, {"hidden_size", 64}, {"intermediate_size", 128},
        {"num_hidden_layers", stages * virtual_stages}, {"num_attention_heads", 4}, {"vocab_size", 256},
        {"max_position_embeddings", 128}};
    return {{"model", model}, {"cluster", "dgx-h100"}, {"gpus", stages}, {"stack", "generic"},
        {"layout", {{"pp", stages}, {"virtual_stages", virtual_stages}}},
        {"training", {{"seq_len", 128}, {"schedule", schedule}, {"micro_batches", micro_batches}}}};
}

// Where the passes of a pipeline are too many to keep, the answer is that of the formula, only the timeline is missing.
TEST(Answers, PipelinesTooLongForATimelineAreAnswered)
{
    for (const char* schedule : {"1f1b", "gpipe"}) {
        const ResolvedPlan plan = resolved(long_pipeline(600, 1, schedule, 2400));
        const Prediction p = predict(plan);
        ASSERT_TRUE(p.step_time_s) << schedule;
        EXPECT_TRUE(p.timeline.spans.empty());
        EXPECT_THAT(p.warnings, testing::Contains(HasSubstr("no timeline: the schedule has 2880000 passes")));
        const SearchSpace space = default_space(plan, {plan.gpus});
        LayoutEvaluator evaluator(plan, space);
        Candidate same;
        same.pp = 600;
        same.micro_batch = std::int16_t(plan.training.micro_batch);
        same.sharding = plan.training.sharding;
        same.recompute = plan.training.recompute;
        same.schedule = plan.training.schedule;
        evaluator.set(same);
        const LayoutFigures figures = evaluator.evaluate().figures;
        EXPECT_EQ(evaluator.ways().formula, 1);
        EXPECT_NEAR(*p.step_time_s, figures.step_time_s, 1e-9 * figures.step_time_s);
        EXPECT_NEAR(*p.memory_gib, figures.memory_gib, 1e-9 * figures.memory_gib);
        EXPECT_EQ(p.memory_by_stage.size(), 600U);
    }
    for (const auto& [schedule, virtual_stages] :
        {std::pair("interleaved", 2), std::pair("zb-h1", 1), std::pair("zb-v", 2)}) {
        const Prediction p = predict(resolved(long_pipeline(512, virtual_stages, schedule, 2048)));
        ASSERT_TRUE(p.step_time_s) << schedule;
        EXPECT_TRUE(p.timeline.spans.empty());
        EXPECT_GT(p.bubble_fraction, 0) << schedule;
        EXPECT_LT(p.bubble_fraction, 0.6) << schedule;
        EXPECT_FALSE(explain(p, "memory_gib")->children.empty());
    }
}

TEST(Answers, GPipeHoldsEveryMicroBatchHoweverMany)
{
    const auto activations = [&](int micro_batches) {
        const Prediction p = predict(resolved(
            llama(16, {{"tp", 2}, {"pp", 4}, {"dp", 2}}, {{"micro_batches", micro_batches}, {"schedule", "gpipe"}})));
        EXPECT_NEAR(explain(p, "memory_gib")->value.value(), *p.memory_gib, 1e-9 * *p.memory_gib);
        return p.memory_by_stage[0].activations;
    };
    EXPECT_NEAR(activations(600'000) / activations(300'000), 2, 0.01);
}

TEST(Answers, MoreChunksThanAreSimulatedAreRefusedByName)
{
    Json document = long_pipeline(4096, 3, "interleaved", 4096);
    document["model"]["num_hidden_layers"] = 4096; // no model is deeper
    const auto plan = plan_from_json(document, "plan");
    ASSERT_TRUE(plan);
    const auto answer = resolve(*plan, Presets());
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().line(), HasSubstr("more than 8192 model chunks"));
}

TEST(Answers, WarnsWhereFewWereMeasured)
{
    const auto warnings = [](const Json& plan) {
        std::string all;
        for (const std::string& warning : predict(resolved(plan)).warnings)
            all += warning + "\n";
        return all;
    };
    EXPECT_THAT(warnings(llama(32, {{"tp", 4}, {"cp", 4}, {"dp", 2}})), HasSubstr("context parallelism crosses nodes"));
    EXPECT_THAT(warnings(llama(512, {{"tp", 4}, {"pp", 4}, {"dp", 32}})), HasSubstr("512 GPUs"));
    EXPECT_THAT(warnings(llama(8, {{"tp", 8}}, {{"offload", "optimizer"}})), HasSubstr("offload"));
    EXPECT_EQ(warnings(llama(16, {{"tp", 2}, {"dp", 8}}, {{"seq_len", 8192}}, "tsubame4")),
        "no measurements of memory with stack megatron-lm on NVIDIA H100 SXM5 94GB (HBM2e): its range is an "
        "estimate\n");
}

// Plans with every kind of broken rule at once: an answer, never a crash.
TEST(Answers, BrokenPlansOfAllKindsGetAnAnswer)
{
    int answered = 0;
    for (int tp : {1, 3, 7, 64})
        for (int cp : {1, 3, 8})
            for (int pp : {1, 5, 40})
                for (int virtual_stages : {1, 3})
                    for (int gpus : {1, 24, 4096})
                        for (const char* schedule : {"gpipe", "1f1b", "interleaved", "zb-v"}) {
                            const Json layout{{"tp", tp}, {"cp", cp}, {"pp", pp}, {"virtual_stages", virtual_stages},
                                {"ep", 3}, {"etp", 5}, {"stage_layers", {1, 2, 3}}};
                            Json plan = llama(gpus, layout,
                                {{"schedule", schedule}, {"seq_len", 1001}, {"micro_batch", 3}, {"global_batch", 10},
                                    {"sharding", "hybrid"}, {"precision", "fp8"}});
                            const Prediction p = predict(resolved(plan));
                            EXPECT_FALSE(p.feasible);
                            EXPECT_FALSE(p.reasons.empty());
                            to_json(p);
                            ++answered;
                        }
    EXPECT_EQ(answered, 864);
}

} // namespace
} // namespace fourfold::test
