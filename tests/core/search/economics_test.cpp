// SPDX-License-Identifier: GPL-3.0-or-later
// Time, money and goodput against hand calculations and a simulated machine that fails.
#include "core/search/economics.h"

#include "core/predict/prediction.h"
#include "core/search/explain_training.h"
#include "core/search/plan_budget.h"
#include "tests/core/search/search_plans.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

namespace fourfold {
namespace {

TEST(Economics, YoungAndDalyByHand)
{
    // 60 s to write, a day between interruptions: sqrt(2 * 60 * 86400) = sqrt(10368000).
    EXPECT_NEAR(young_interval_s(60, 86400), 3219.938, 1e-3);
    // Daly: 3219.938 (1 + sqrt(60 / 172800) / 3 + 60 / 172800 / 9) - 60.
    EXPECT_NEAR(daly_interval_s(60, 86400), 3219.938 * (1 + 0.018633900 / 3 + 0.00034722 / 9) - 60, 1e-2);
    EXPECT_EQ(daly_interval_s(200, 100), 100); // a write as long as two failures are apart
}

TEST(Economics, DalysIntervalWastesTheLeast)
{
    for (const double mtbf : {3600.0, 86400.0, 1e6}) {
        const double write = 90, restart = 300;
        double best = 1e300;
        for (double interval = 60; interval < 10 * mtbf; interval *= 1.001)
            best = std::min(best, expected_stretch(interval, write, restart, mtbf));
        EXPECT_NEAR(expected_stretch(daly_interval_s(write, mtbf), write, restart, mtbf) / best, 1, 1e-4) << mtbf;
    }
}

// One segment after the other: train, write; a failure throws the segment away and restarts, which may fail as well.
double simulated_stretch(double interval, double write, double restart, double mtbf)
{
    std::mt19937_64 random(7);
    std::exponential_distribution<double> failure(1 / mtbf);
    constexpr int kSegments = 300'000;
    double time = 0;
    for (int segment = 0; segment < kSegments; ++segment) {
        for (double until = failure(random); until < interval + write; until = failure(random)) {
            time += until;
            double during = failure(random);
            for (; during < restart; during = failure(random))
                time += during;
            time += restart;
        }
        time += interval + write;
    }
    return time / (kSegments * interval);
}

TEST(Economics, StretchIsThatOfASimulatedMachine)
{
    EXPECT_NEAR(expected_stretch(1000, 60, 200, 5000) / simulated_stretch(1000, 60, 200, 5000), 1, 0.01);
    EXPECT_NEAR(expected_stretch(3000, 60, 600, 4000) / simulated_stretch(3000, 60, 600, 4000), 1, 0.01);
}

TEST(Economics, CheckpointHoldsWhatTrainingGoesOnFrom)
{
    ResolvedPlan plan = search_plan("bloom-176b", "jean-zay-a100", 384, 2048);
    // bf16 weights 2, fp32 masters 4, two fp32 states 8.
    plan.training.precision = Precision::bf16;
    EXPECT_DOUBLE_EQ(checkpoint_bytes(plan), 14 * plan.model.parameters());
    // The BLOOM team's were 2.3 TiB (176.2e9 * 14 = 2.47e12 bytes = 2.24 TiB).
    EXPECT_NEAR(checkpoint_bytes(plan) / std::pow(2, 40), 2.3, 0.1);
    plan.training.precision = Precision::fp32; // no masters besides
    EXPECT_DOUBLE_EQ(checkpoint_bytes(plan), 12 * plan.model.parameters());
    plan.training.precision = Precision::bf16;
    plan.training.optimizer_state_dtype = Precision::bf16;
    EXPECT_DOUBLE_EQ(checkpoint_bytes(plan), 10 * plan.model.parameters());
}

TEST(Economics, WithoutFailures)
{
    const ResolvedPlan plan = search_plan("llama-3.1-8b", "dgx-h100", 16, 64);
    TrainingBudget budget{plan.tokens_per_step() * 43200, 2.5}; // 43,200 steps of 2 s are a day
    budget.facility_factor = 1.5;
    const Economics economics = economics_of(plan, 2, budget);
    EXPECT_DOUBLE_EQ(economics.steps, 43200);
    EXPECT_DOUBLE_EQ(economics.days, 1);
    EXPECT_DOUBLE_EQ(economics.gpu_hours, 24 * 16);
    EXPECT_DOUBLE_EQ(economics.cost, 24 * 16 * 2.5);
    EXPECT_DOUBLE_EQ(economics.energy_mwh, 24 * 16 * plan.cluster.gpu.power_w * 1.5 / 1e6);
    EXPECT_TRUE(std::isnan(economics.goodput));
    EXPECT_TRUE(std::isnan(economics.expected_days));
    EXPECT_TRUE(std::isnan(economics.interval_steps));
    EXPECT_TRUE(to_json(economics)["goodput"].is_null());
}

// What nobody said is not known: a budget of tokens alone has no cost, and a price of nothing is one.
TEST(Economics, APriceThatNobodySaidIsNotNothing)
{
    const ResolvedPlan plan = search_plan("llama-3.1-8b", "dgx-h100", 16, 64);
    TrainingBudget budget;
    budget.tokens = 1e12;
    EXPECT_TRUE(std::isnan(economics_of(plan, 2, budget).cost));
    EXPECT_TRUE(to_json(economics_of(plan, 2, budget))["cost"].is_null());
    budget.price_per_gpu_hour = 0;
    EXPECT_EQ(economics_of(plan, 2, budget).cost, 0);
}

TEST(Economics, WithFailures)
{
    const ResolvedPlan plan = search_plan("llama-3.1-8b", "dgx-h100", 16, 64);
    TrainingBudget budget{plan.tokens_per_step() * 43200, 2.5};
    budget.failures_per_gpu_hour = 1.0 / 160; // 16 GPUs: one in 10 hours
    budget.storage_gb_s = checkpoint_bytes(plan) / 1e9 / 30; // 30 s to write
    budget.restart_s = 100;
    const Economics economics = economics_of(plan, 2, budget);
    EXPECT_NEAR(economics.mtbf_hours, 10, 1e-12);
    EXPECT_NEAR(economics.checkpoint_s, 30, 1e-9);
    EXPECT_NEAR(economics.young_s, std::sqrt(2.0 * 30 * 36000), 1e-6);
    EXPECT_DOUBLE_EQ(economics.interval_steps, std::round(daly_interval_s(30, 36000) / 2));
    EXPECT_DOUBLE_EQ(economics.interval_s, 2 * economics.interval_steps);
    EXPECT_NEAR(economics.goodput, 1 / simulated_stretch(economics.interval_s, 30, 100, 36000), 0.005);
    EXPECT_DOUBLE_EQ(economics.expected_days, 1 / economics.goodput);
    EXPECT_NEAR(economics.failures, 24 / economics.goodput / 10, 1e-9);
    EXPECT_DOUBLE_EQ(goodput_of(plan, 2, budget), economics.goodput);
    EXPECT_DOUBLE_EQ(economics.expected_cost, economics.cost / economics.goodput);
}

TEST(Economics, SearchKnowsGoodput)
{
    SearchRequest request = small_request();
    request.budget.failures_per_gpu_hour = 1e-3;
    request.budget.storage_gb_s = 5;
    request.objective = objective("expected_days");
    request.constraints = {constraint("goodput > 0.9")};
    request.space.gpus = {8};
    const SearchResult result = search(request);
    ASSERT_FALSE(result.best.empty());
    const ResolvedPlan plan = plan_of(result.best.front(), request);
    const Economics economics = economics_of(plan, result.best.front().figures.step_time_s, request.budget);
    EXPECT_NEAR(result.best.front().objective, economics.expected_days, 1e-9 * economics.expected_days);
    EXPECT_GT(economics.goodput, 0.9);
}

// The rates of GPUs and nodes add up: 16 GPUs, one in 160 h each, on 2 nodes, one in 40 h each.
TEST(Economics, NodesFailBesideTheirGpus)
{
    const ResolvedPlan plan = search_plan("llama-3.1-8b", "dgx-h100", 16, 64);
    TrainingBudget budget{1e12, 2};
    EXPECT_FALSE(budget.knows_failures());
    EXPECT_TRUE(std::isnan(economics_of(plan, 2, budget).mtbf_hours));
    budget.failures_per_node_hour = 1.0 / 40;
    EXPECT_NEAR(economics_of(plan, 2, budget).mtbf_hours, 20, 1e-9);
    budget.failures_per_gpu_hour = 1.0 / 160;
    EXPECT_NEAR(economics_of(plan, 2, budget).mtbf_hours, 1 / (16.0 / 160 + 2.0 / 40), 1e-9);
    budget.gpu_power_w = 500;
    const Economics economics = economics_of(plan, 2, budget);
    EXPECT_DOUBLE_EQ(economics.energy_mwh, economics.gpu_hours * 500 / 1e6);
}

TEST(PlanBudget, IsWhatThePlanSays)
{
    ResolvedPlan resolved = search_plan("llama-3.1-8b", "dgx-h100", 16, 64);
    Plan plan;
    plan.document = *parse_json(R"({"gpus": 16})", "plan");
    EXPECT_FALSE(has_budget(plan));
    TrainingBudget budget = budget_of(plan, resolved);
    EXPECT_DOUBLE_EQ(budget.tokens, 20 * resolved.model.parameters());
    EXPECT_EQ(budget.tokens_from, TokensFrom::parameters);
    EXPECT_TRUE(std::isnan(budget.price_per_gpu_hour));
    EXPECT_EQ(missing_for_goodput(budget), "");
    plan.document["budget"] = *parse_json(
        R"({"price_per_gpu_hour": 2, "node_mtbf_hours": 1000, "restart_s": 60, "facility_factor": 1.3})", "budget");
    resolved.run.tokens = 3e12;
    budget = budget_of(plan, resolved);
    EXPECT_TRUE(has_budget(plan));
    EXPECT_EQ(budget.tokens, 3e12);
    EXPECT_EQ(budget.tokens_from, TokensFrom::plan);
    EXPECT_EQ(budget.price_per_gpu_hour, 2);
    EXPECT_DOUBLE_EQ(budget.failures_per_hour(resolved), 2e-3);
    EXPECT_EQ(budget.restart_s, 60);
    EXPECT_EQ(budget.facility_factor, 1.3);
    EXPECT_EQ(missing_for_goodput(budget), "the speed of the storage");
}

void expect_finished(const Explanation& node)
{
    EXPECT_THAT(node.formula, testing::Not(testing::HasSubstr("nan"))) << node.label;
    EXPECT_FALSE(node.label.empty());
    for (const Explanation& child : node.children)
        expect_finished(child);
}

// Each figure opens into a tree whose top is the figure, of what is known and of what is not.
TEST(ExplainTraining, EveryFigureHasItsDerivation)
{
    const Prediction prediction = predict(search_plan("llama-3.1-8b", "dgx-h100", 16, 64));
    ASSERT_TRUE(prediction.step_time_s);
    TrainingBudget budget;
    budget.tokens = 1e12;
    budget.price_per_gpu_hour = 2.5;
    budget.failures_per_gpu_hour = 1.0 / 160;
    budget.failures_per_node_hour = 1.0 / 40;
    budget.storage_gb_s = 4;
    const Json known = to_json(economics_of(prediction.plan, *prediction.step_time_s, budget));
    for (const std::string& figure : training_figures()) {
        const auto tree = explain_training(prediction, budget, figure);
        ASSERT_TRUE(tree) << figure;
        ASSERT_TRUE(tree->value) << figure;
        const double shown = figure == "checkpoint_bytes" ? *tree->value * 1e9 : *tree->value; // GB
        EXPECT_NEAR(shown / known[figure].get<double>(), 1, 1e-12) << figure;
        expect_finished(*tree);
    }
    EXPECT_EQ(training_explanation_json(prediction, budget).size(), training_figures().size());
    EXPECT_FALSE(explain_training(prediction, budget, "step_time_s"));
    budget.storage_gb_s = budget.price_per_gpu_hour = TrainingBudget::kUnknown;
    EXPECT_EQ(explain_training(prediction, budget, "cost")->formula, "not known without the price of a GPU hour");
    for (const char* figure : {"goodput", "expected_days", "checkpoint_interval_s", "failures"}) {
        const auto tree = explain_training(prediction, budget, figure);
        EXPECT_FALSE(tree->value) << figure;
        EXPECT_EQ(tree->formula, "not known without the speed of the storage") << figure;
    }
    for (const std::string& figure : training_figures())
        expect_finished(*explain_training(prediction, budget, figure));
}

} // namespace
} // namespace fourfold
