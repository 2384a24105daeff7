// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/fit/priced_row.h"
#include "tests/core/calibration/fit/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace fourfold::test {
namespace {

using testing::HasSubstr;

const FitSet& generic_set()
{
    static const Stack stack = must(shipped().stack("generic"));
    return stack.fit.front();
}

TEST(PricedRow, PricesAsPredictDoes)
{
    for (const char* cluster : {"dgx-h100", "abci-a", "this-computer"}) {
        for (const Shape& shape : shapes()) {
            FitRow row;
            row.plan = plan_of(shape, cluster);
            if (!check(row.plan).empty())
                continue;
            const std::string gpu = row.plan.cluster.gpu.id;
            auto priced = must(PricedRow::make(row, row.plan.stack));
            const std::vector<std::string> names{"gemm_efficiency", "gradient_accumulation_bytes", "fragmentation",
                "logits_memory_bytes", "inter_node_efficiency", "optimizer_shard_bytes"};
            priced.try_constants(names);
            for (const std::vector<double>& values :
                {std::vector<double>{0.5, 4, 1.2, 9, 0.3, 34}, {0.7, 4, 1.0, 2, 0.3, 34}, {0.7, 11, 1.0, 2, 0.9, 60}}) {
                ResolvedPlan plan = row.plan;
                for (std::size_t i = 0; i < names.size(); ++i)
                    plan.stack.gpu_constants[gpu][names[i]] = values[i];
                const Prediction prediction = predict(plan);
                ASSERT_TRUE(prediction.step_time_s && prediction.memory_gib);
                EXPECT_NEAR(priced.step_time_s(values) / *prediction.step_time_s, 1, 1e-9) << cluster;
                EXPECT_NEAR(priced.memory(values).gib / *prediction.memory_gib, 1, 1e-9) << cluster;
                EXPECT_NEAR(priced.memory(values).device_gib / *prediction.memory_device_gib, 1, 1e-9) << cluster;
            }
        }
    }
}

TEST(Fit, FindsTheConstantsThatTheRowsWereMadeWith)
{
    const Stack truth = generic_with({{"gemm_efficiency", 0.62}, {"intra_node_efficiency", 0.6},
        {"activation_hidden_factor", 7}, {"logits_memory_bytes", 10}});
    const FitResult fit = must(fit_stack(generic_with({}), generic_set(), measured(truth)));
    EXPECT_TRUE(fit.converged);
    EXPECT_GT(fit.before.time, 0.1);
    EXPECT_LT(fit.after.time, 0.005);
    EXPECT_LT(fit.after.memory, 0.01);
    EXPECT_NEAR(estimate(fit, "gemm_efficiency").value, 0.62, 0.02);
    EXPECT_TRUE(estimate(fit, "gemm_efficiency").determined());
    EXPECT_TRUE(estimate(fit, "gemm_efficiency").moved());
    EXPECT_NEAR(estimate(fit, "activation_hidden_factor").value, 7, 1.2); // the prior says 4
    // What was fitted stands under the GPU that was measured, and nowhere else.
    EXPECT_NEAR(fit.stack.constant("gemm_efficiency", "h100-80gb-sxm", 0), 0.62, 0.02);
    EXPECT_EQ(fit.stack.constant("gemm_efficiency", "a100-80gb-sxm", 0), generic_with({}).constants["gemm_efficiency"]);
    EXPECT_TRUE(fit.stack.calibrated_for("h100-80gb-sxm"));
}

TEST(Fit, WhatStaysWithItsGpusDoesNotTravel)
{
    FitSet set = generic_set();
    for (FittedConstant& constant : set.shared)
        constant.stays = constant.name == "intra_node_efficiency";
    FitOptions options;
    options.scope = FitScope::stack;
    const FitResult fit = must(fit_stack(generic_with({}), set,
        measured(generic_with({{"gemm_efficiency", 0.62}, {"intra_node_efficiency", 0.6}})), options));
    EXPECT_LT(fit.after.time, 0.005);
    EXPECT_NEAR(fit.stack.constants.at("gemm_efficiency"), 0.62, 0.02);
    EXPECT_NEAR(fit.stack.gpu_constants.at("h100-80gb-sxm").at("intra_node_efficiency"), 0.6, 0.06);
    EXPECT_EQ(fit.stack.constants.at("intra_node_efficiency"), generic_with({}).constants.at("intra_node_efficiency"));
}

TEST(Fit, KeepsAtItsPriorWhatNoRowShows)
{
    const FitResult fit
        = must(fit_stack(generic_with({}), generic_set(), measured(generic_with({{"gemm_efficiency", 0.6}}))));
    const ConstantEstimate& fp8 = estimate(fit, "fp8_gain");
    EXPECT_FALSE(fp8.influences);
    EXPECT_FALSE(fp8.determined());
    EXPECT_FALSE(fp8.moved());
    EXPECT_NEAR(fp8.value, fp8.prior, 1e-6);
    EXPECT_NEAR(fp8.posterior_width, fp8.prior_width, 1e-6);
}

TEST(Fit, OneRowMovesTheWholeSoftware)
{
    // Software that is a third slower in everything.
    std::map<std::string, double> slower;
    for (const FittedConstant& constant : generic_set().shared) {
        if (constant.overall > 0)
            slower[constant.name] = must(shipped().stack("generic")).constant(constant.name, "", 0.5) / 1.35;
    }
    const auto rows = measured(generic_with(slower));
    for (const FitRow& row : rows) {
        const FitResult fit = must(fit_stack(generic_with({}), generic_set(), {row}));
        EXPECT_GT(fit_error(generic_with({}), rows).time, 0.2);
        // A kind of run that nobody measured (context parallelism across nodes) is believed less.
        EXPECT_LT(fit_error(fit.stack, rows).time, 0.14) << row.label;
    }
}

TEST(Fit, DoesNotDependOnTheNumberOfThreads)
{
    const auto rows = measured(generic_with({{"gemm_efficiency", 0.6}, {"inter_node_efficiency", 0.4}}));
    FitOptions options;
    options.threads = 1;
    const FitResult one = must(fit_stack(generic_with({}), generic_set(), rows, options));
    options.threads = 4;
    const FitResult four = must(fit_stack(generic_with({}), generic_set(), rows, options));
    ASSERT_EQ(one.constants.size(), four.constants.size());
    for (std::size_t i = 0; i < one.constants.size(); ++i) {
        EXPECT_EQ(one.constants[i].value, four.constants[i].value) << one.constants[i].name;
        EXPECT_EQ(one.constants[i].posterior_width, four.constants[i].posterior_width) << one.constants[i].name;
    }
}

TEST(Fit, RespectsBoundsAndPins)
{
    const auto rows = measured(generic_with({{"gemm_efficiency", 0.98}, {"intra_node_efficiency", 0.3}}));
    FitSet set = generic_set();
    for (FittedConstant& constant : set.shared) {
        if (constant.name == "gemm_efficiency")
            constant.high = 0.85;
    }
    FitOptions options;
    options.shrink = false;
    options.pinned = {{"intra_node_efficiency", 0.3}};
    const FitResult fit = must(fit_stack(generic_with({}), set, rows, options));
    EXPECT_LE(estimate(fit, "gemm_efficiency").value, 0.85);
    EXPECT_TRUE(estimate(fit, "gemm_efficiency").at_bound);
    EXPECT_EQ(fit.stack.constant("intra_node_efficiency", "h100-80gb-sxm", 0), 0.3);
    EXPECT_THROW(estimate(fit, "intra_node_efficiency"), std::runtime_error);
}

TEST(Fit, OneWildRowDoesNotPullTheRest)
{
    auto rows = measured(generic_with({{"gemm_efficiency", 0.65}}));
    *rows[3].step_time_s *= 3; // a run on a node with a hot GPU
    const FitResult fit = must(fit_stack(generic_with({}), generic_set(), rows));
    rows.erase(rows.begin() + 3);
    EXPECT_LT(fit_error(fit.stack, rows).time, 0.03);
}

TEST(Fit, LearnsFromRunsThatRanOutOfMemory)
{
    std::vector<FitRow> rows;
    for (const Shape& shape : {Shape{1, 1, 2, 8, 1}, Shape{2, 1, 1, 8, 1}, Shape{1, 1, 4, 8, 1}}) {
        FitRow row;
        row.plan = plan_of(shape);
        row.outcome = Outcome::out_of_memory;
        rows.push_back(row);
    }
    FitSet set = generic_set();
    const Stack roomy = generic_with({{"activation_hidden_factor", 1}, {"context_memory_gib", 0.2}});
    const double before = *predict_row(roomy, rows[1]).memory_device_gib;
    FitOptions options;
    options.scope = FitScope::stack;
    const FitResult fit = must(fit_stack(roomy, set, rows, options));
    EXPECT_EQ(fit.time_rows, 0);
    EXPECT_EQ(fit.memory_rows, 3);
    EXPECT_GT(*predict_row(fit.stack, rows[1]).memory_device_gib, before);
    EXPECT_GE(fit.after.right, fit.before.right);
}

TEST(Fit, SaysWhyNoRowCanBeUsed)
{
    FitRow row;
    row.plan = plan_of({8, 1, 1, 8, 1});
    row.label = "runs.csv:7";
    row.step_time_s = 1;
    row.plan.layout.tp = 3;
    const auto fit = fit_stack(generic_with({}), generic_set(), {row});
    ASSERT_FALSE(fit);
    EXPECT_EQ(fit.error().code, ProblemCode::bad_input);
    EXPECT_THAT(fit.error().line(), HasSubstr("runs.csv:7"));
    EXPECT_FALSE(fit_stack(generic_with({}), generic_set(), {}));

    auto rows = measured(generic_with({}));
    rows.push_back(row);
    EXPECT_EQ(must(fit_stack(generic_with({}), generic_set(), rows)).unusable_rows, 1);
}

} // namespace
} // namespace fourfold::test
