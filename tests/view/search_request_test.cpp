// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/search/search_job.h"
#include "tests/core/search/search_plans.h"

#include <gmock/gmock.h>

namespace fourfold {
namespace {

Plan written(const char* keys)
{
    Plan plan;
    plan.document = *parse_json(keys, "plan");
    return plan;
}

// Where a figure is not known, what comes first would do so by chance.
TEST(SearchRequest, RefusesFiguresThatAreNotKnown)
{
    ResolvedPlan plan = search_plan("llama-3.1-8b", "dgx-h100", 16, 64);
    const auto asked = [&](const char* keys, const char* objective, std::optional<Expression> condition = {}) {
        return view::search_request(written(keys), plan, {{16}, objective, std::move(condition)});
    };
    EXPECT_TRUE(asked("{}", "gpu_hours"));
    const auto cost = asked("{}", "cost");
    ASSERT_FALSE(cost);
    EXPECT_THAT(cost.error().line(), testing::HasSubstr("budget.price_per_gpu_hour"));
    EXPECT_TRUE(asked(R"({"budget": {"price_per_gpu_hour": 2}})", "cost"));
    const auto goodput = asked("{}", "tps_per_gpu", constraint("goodput > 0.9"));
    ASSERT_FALSE(goodput);
    EXPECT_THAT(goodput.error().line(), testing::StartsWith("constraint: \"goodput\" is not known without"));
    EXPECT_TRUE(asked(R"({"budget": {"node_mtbf_hours": 2e4, "storage_gb_s": 10}})", "expected_days"));
    plan.cluster.gpu.power_w = 0;
    const auto energy = asked("{}", "energy_mwh");
    ASSERT_FALSE(energy);
    EXPECT_THAT(energy.error().line(), testing::StartsWith("objective: \"energy_mwh\" is not known without"));
    EXPECT_TRUE(asked(R"({"budget": {"gpu_power_w": 500}})", "energy_mwh"));
}

// The plan's tokens, not 20 per parameter.
TEST(SearchRequest, TakesTheBudgetOfThePlan)
{
    ResolvedPlan plan = search_plan("llama-3.1-8b", "dgx-h100", 16, 64);
    const auto usual = view::search_request(written("{}"), plan, {{16}, "days", {}});
    ASSERT_TRUE(usual);
    EXPECT_DOUBLE_EQ(usual->budget.tokens, chinchilla_tokens(plan.model));
    EXPECT_EQ(usual->budget.tokens_from, TokensFrom::parameters);
    plan.run.tokens = 15e12;
    const auto own = view::search_request(
        written(R"({"budget": {"price_per_gpu_hour": 2.5, "gpu_mtbf_hours": 50000, "storage_gb_s": 40}})"), plan,
        {{16}, "expected_cost", {}});
    ASSERT_TRUE(own) << own.error().line();
    EXPECT_DOUBLE_EQ(own->budget.tokens, 15e12);
    EXPECT_DOUBLE_EQ(own->budget.failures_per_gpu_hour, 2e-5);
    EXPECT_DOUBLE_EQ(own->budget.price_per_gpu_hour, 2.5);
}

// What found layouts are faster or slower than is a plan that asks for the same: with another layout, not with another
// model, sequence or batch.
TEST(SearchRequest, IsAnsweredForPlansThatDifferInWhatItVaries)
{
    const ResolvedPlan plan = search_plan("llama-3.1-8b", "dgx-h100", 16, 64);
    auto request = view::search_request(written("{}"), plan, {{16}, "tps_per_gpu", {}});
    ASSERT_TRUE(request);
    EXPECT_TRUE(view::answers(*request, plan));
    const auto differs = [&](const auto& change) {
        ResolvedPlan other = plan;
        change(other);
        return !view::answers(*request, other);
    };
    EXPECT_FALSE(differs([](ResolvedPlan& other) {
        other.name = "another";
        other.gpus = 32;
        other.layout.tp = 4;
        other.training.micro_batch = 2;
        other.training.micro_batches = 4;
        other.training.recompute = Recompute::full;
        other.run.steps = 7;
    }));
    EXPECT_TRUE(differs([](ResolvedPlan& other) { other.model.layers += 1; }));
    EXPECT_TRUE(differs([](ResolvedPlan& other) { other.training.seq_len *= 2; }));
    EXPECT_TRUE(differs([](ResolvedPlan& other) { other.cluster.gpus_per_node = 4; }));
    EXPECT_TRUE(differs([](ResolvedPlan& other) { other.training.global_batch += 1; }));
    request->space.batch_tolerance = 0.1;
    EXPECT_FALSE(differs([](ResolvedPlan& other) { other.training.global_batch += 6; }));
    EXPECT_TRUE(differs([](ResolvedPlan& other) { other.training.global_batch += 7; }));
    // Of one that asks something else, or does not fit, nothing.
    Prediction answer;
    answer.feasible = true;
    answer.tps_per_gpu = 1000;
    EXPECT_EQ(view::throughput_to_beat(*request, plan, answer), 1000);
    ResolvedPlan longer = plan;
    longer.training.seq_len *= 2;
    EXPECT_FALSE(view::throughput_to_beat(*request, longer, answer));
    answer.feasible = false;
    EXPECT_FALSE(view::throughput_to_beat(*request, plan, answer));
}

} // namespace
} // namespace fourfold
