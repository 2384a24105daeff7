// SPDX-License-Identifier: GPL-3.0-or-later
// The plan that three answers lead to.
#include "core/start/recommend.h"

#include "core/plan/fields.h"

#include <gmock/gmock.h>

#include <bit>
#include <set>

namespace fourfold {
namespace {

using testing::HasSubstr;
using testing::Not;

Expected<Recommendation> asked(
    const std::string& model, const std::string& cluster, int gpus, TrainingExtent extent = {})
{
    StartAnswers answers;
    answers.model = model;
    answers.cluster = cluster;
    answers.gpus = gpus;
    answers.extent = extent;
    return recommend(answers, Presets());
}

// What anybody would check first: it resolves, keeps every rule, fits, and predict() says of the plan what is told.
TEST(Recommend, APlanThatHoldsWhatItSays)
{
    struct Case {
        const char *model, *cluster;
        int gpus;
    };
    for (const Case& each : {Case{"llama-3.1-8b", "dgx-h100", 8}, {"llama-3.1-70b", "dgx-h100", 96},
             {"qwen3-30b-a3b", "dgx-h100", 64}, {"gpt2", "this-computer", 2}}) {
        const auto found = asked(each.model, each.cluster, each.gpus);
        ASSERT_TRUE(found) << each.model << ": " << found.error().line();
        const Presets presets;
        const auto read = parse_plan(to_text(found->plan), "saved");
        ASSERT_TRUE(read) << read.error().line();
        EXPECT_TRUE(read->unknown_keys.empty());
        const auto plan = resolve(*read, presets);
        ASSERT_TRUE(plan) << plan.error().line();
        EXPECT_TRUE(check(*plan).empty()) << each.model;
        EXPECT_EQ(plan->gpus, each.gpus);
        const Prediction again = predict(*plan);
        EXPECT_NE(again.fit, Fit::no) << each.model;
        EXPECT_EQ(again.step_time_s, found->prediction.step_time_s) << each.model;
        EXPECT_DOUBLE_EQ(found->economics.tokens, chinchilla_tokens(plan->model));
        EXPECT_GE(found->reasons.size(), 2U);
        EXPECT_GE(found->assumed.size(), 3U); // stack, batch, tokens
    }
}

// The naive way: no layout of the search does better with the same batch, but for what ranking by evidence gives away.
TEST(Recommend, NothingFoundOtherwiseIsMuchFaster)
{
    const auto found = asked("llama-3.1-8b", "dgx-h100", 16);
    ASSERT_TRUE(found) << found.error().line();
    SearchRequest request;
    request.plan = found->prediction.plan;
    request.space = default_space(request.plan, {16});
    request.objective = *parse_objective("tps_per_gpu", "");
    request.top = 1;
    request.every = true;
    const SearchResult all = search(request);
    ASSERT_FALSE(all.best.empty());
    EXPECT_LT(*found->prediction.step_time_s, 1.05 * all.best.front().figures.step_time_s);
}

TEST(Recommend, ATimeGivesTheTokensThatItTrains)
{
    const auto found = asked("llama-3.1-8b", "dgx-h100", 64, {0, 30});
    ASSERT_TRUE(found) << found.error().line();
    EXPECT_NEAR(found->economics.days, 30, 1e-6);
    const double expected = *found->prediction.tps_per_gpu * 64 * 30 * 86400;
    EXPECT_NEAR(found->economics.tokens, expected, 1e-6 * expected);
    EXPECT_NEAR(value_at(found->plan.document, "run.tokens").get<double>(), expected, 1);
    for (const std::string& sentence : found->assumed)
        EXPECT_THAT(sentence, Not(HasSubstr("per parameter")));
}

// A plan that nothing would read again is none.
TEST(Recommend, ATimeWithoutTokensOrWithTooManyIsSaid)
{
    for (const double days : {1e-30, 1e18}) {
        const auto found = asked("llama-3.1-8b", "dgx-h100", 8, {0, days});
        ASSERT_FALSE(found) << days;
        EXPECT_EQ(found.error().exit_status(), 2);
        EXPECT_THAT(found.error().line(), HasSubstr("tokens on these GPUs, expected 1 to 1e+18")) << days;
    }
}

TEST(Recommend, RunnersUpAreOtherPlansThatFit)
{
    const auto found = asked("llama-3.1-70b", "dgx-h100", 64);
    ASSERT_TRUE(found) << found.error().line();
    ASSERT_GE(found->runner_ups.size(), 2U);
    std::set<std::string> seen{to_text(found->plan)};
    for (const RunnerUp& runner : found->runner_ups) {
        EXPECT_TRUE(seen.insert(to_text(runner.plan)).second);
        EXPECT_FALSE(runner.differs.empty());
        const auto plan = resolve(runner.plan, Presets());
        ASSERT_TRUE(plan) << plan.error().line();
        EXPECT_TRUE(check(*plan).empty());
        EXPECT_NE(predict(*plan).fit, Fit::no);
    }
}

TEST(Recommend, WhereNothingFitsItSaysOnHowManyItWould)
{
    const auto found = asked("llama-3.1-405b", "dgx-h100", 8);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().exit_status(), 2);
    const std::string line = found.error().line();
    const std::size_t at = line.find("it fits on ");
    ASSERT_NE(at, std::string::npos) << line;
    const int enough = std::stoi(line.substr(at + 11));
    EXPECT_TRUE(asked("llama-3.1-405b", "dgx-h100", enough)) << line;
    EXPECT_FALSE(asked("llama-3.1-405b", "dgx-h100", enough / 2)) << line;
}

TEST(Recommend, AStackThatWasMeasuredOnTheGpuIsTaken)
{
    const Presets presets;
    const auto stack = [&](const char* model, const char* cluster) {
        return usual_stack(*presets.model(model), *presets.cluster(cluster), presets);
    };
    EXPECT_EQ(stack("gpt2", "this-computer"), "fourfold");
    EXPECT_TRUE(presets.stack(stack("llama-3.1-70b", "dgx-h100"))->calibrated_for("h100-80gb-sxm"));
    EXPECT_EQ(stack("llama-3.1-70b", "tpu-v5p-pod"), "generic");
}

TEST(Recommend, BatchesGrowWithTheModel)
{
    const Presets presets;
    double before = 0;
    for (const char* id : {"gpt2", "llama-3.2-1b", "llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b"}) {
        const double tokens = usual_tokens_per_step(*presets.model(id));
        EXPECT_GE(tokens, before) << id;
        EXPECT_TRUE(std::has_single_bit(static_cast<unsigned>(tokens))) << id;
        before = tokens;
    }
    EXPECT_EQ(before, 16.0 * (1 << 20)); // Llama 3 405B
    EXPECT_EQ(usual_tokens_per_step(*presets.model("llama-2-70b")), 4.0 * (1 << 20));
}

TEST(Recommend, AStopEndsIt)
{
    StartAnswers answers;
    answers.model = "llama-3.1-405b";
    answers.cluster = "dgx-h100";
    answers.gpus = 8;
    std::stop_source stop;
    stop.request_stop();
    const auto found = recommend(answers, Presets(), {}, stop.get_token());
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ProblemCode::cancelled);
}

TEST(Recommend, WhatIsNotKnownIsNamed)
{
    StartAnswers answers;
    answers.model = "llama-3.1-8b";
    answers.cluster = "dgx-h100";
    answers.gpus = 8;
    answers.stack = "megatron";
    const auto found = recommend(answers, Presets());
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().line(), HasSubstr("megatron"));
}

} // namespace
} // namespace fourfold
