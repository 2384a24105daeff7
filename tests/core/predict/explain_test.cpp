// SPDX-License-Identifier: GPL-3.0-or-later
// Explanations: every level adds up, and the trees say what the prediction says.
#include "core/predict/explain.h"
#include "tests/core/predict/random_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace fourfold::test {
namespace {

void expect_sums(const Explanation& node, const std::string& path)
{
    if (node.sum) {
        double sum = 0, size = 0;
        for (const Explanation& child : node.children) {
            ASSERT_TRUE(child.value.has_value()) << path << "/" << child.label;
            sum += *child.value;
            size = std::max(size, std::abs(*child.value));
        }
        EXPECT_NEAR(sum, *node.value, 1e-8 * std::max(size, std::abs(*node.value))) << path;
    }
    for (const Explanation& child : node.children)
        expect_sums(child, path + "/" + child.label);
}

const Explanation* child(const Explanation& node, const std::string& label)
{
    const auto found = std::find_if(
        node.children.begin(), node.children.end(), [&](const Explanation& one) { return one.label == label; });
    return found == node.children.end() ? nullptr : &*found;
}

TEST(Explain, EveryLevelAddsUp)
{
    for (const ResolvedPlan& plan : random_valid_plans(60, 5)) {
        const Prediction p = predict(plan);
        SCOPED_TRACE(to_json(plan, PresetStyle::ids).dump());
        for (const std::string& figure : explained_figures()) {
            const auto tree = explain(p, figure);
            ASSERT_TRUE(tree.has_value()) << figure;
            expect_sums(*tree, figure);
        }
    }
}

TEST(Explain, TheRootIsThePredictedFigure)
{
    const Prediction p = predict(example("llama-3.1-405b-torchtitan-512"));
    EXPECT_EQ(*explain(p, "step_time_s")->value, *p.step_time_s);
    EXPECT_EQ(*explain(p, "tps_per_gpu")->value, *p.tps_per_gpu);
    EXPECT_EQ(*explain(p, "tflops_per_gpu")->value, *p.tflops_per_gpu);
    EXPECT_EQ(*explain(p, "memory_gib")->value, *p.memory_gib);
    EXPECT_EQ(*explain(p, "memory_device_gib")->value, *p.memory_device_gib);
    EXPECT_EQ(*explain(p, "bubble_fraction")->value, p.bubble_fraction);
    EXPECT_EQ(explain(p, "mfu")->value, p.mfu ? p.mfu : p.mfu_bf16_peak);
}

TEST(Explain, StepTimeOpensIntoPartsAndOperationsWithTheirFormulas)
{
    const Prediction p = predict(example("llama-3.1-8b-tsubame4-16"));
    const Explanation tree = *explain(p, "step_time_s");
    const Explanation* compute = child(tree, "compute");
    ASSERT_NE(compute, nullptr);
    EXPECT_EQ(*compute->value, p.time_by_part[Part::compute]);
    const Explanation* qkv = child(*compute, "qkv projection (forward)");
    ASSERT_NE(qkv, nullptr);
    EXPECT_THAT(qkv->formula, testing::HasSubstr("2 m n k"));
    EXPECT_THAT(qkv->source, testing::HasSubstr("gemm_efficiency"));
    EXPECT_TRUE(std::is_sorted(compute->children.begin(), compute->children.end(),
        [](const Explanation& a, const Explanation& b) { return std::abs(*a.value) > std::abs(*b.value); }));
}

TEST(Explain, MemoryCountsMicroBatchesInFlight)
{
    const Prediction p = predict(example("bloom-200b-jean-zay-320"));
    const Explanation tree = *explain(p, "memory_gib");
    const Explanation* activations = child(tree, "activations");
    ASSERT_NE(activations, nullptr);
    const Explanation* kept = child(*activations, "activations");
    ASSERT_NE(kept, nullptr);
    EXPECT_THAT(kept->formula, testing::HasSubstr("in flight"));
}

TEST(Explain, WhatCannotBeComputedIsEmpty)
{
    ResolvedPlan plan = example("llama-3.1-8b-tsubame4-16");
    plan.layout.tp = 3; // does not divide the heads, nor the GPUs
    const Prediction p = predict(plan);
    ASSERT_FALSE(p.step_time_s);
    for (const char* figure : {"step_time_s", "tps_per_gpu", "mfu", "tflops_per_gpu", "bubble_fraction", "interval"})
        EXPECT_FALSE(explain(p, figure)->value) << figure;
    EXPECT_TRUE(explanation_json(p).contains("memory_gib"));
}

TEST(Explain, AnUnknownFigureNamesTheKnownOnes)
{
    const auto tree = explain(predict(example("llama-3.1-8b-tsubame4-16")), "speed");
    ASSERT_FALSE(tree.has_value());
    EXPECT_THAT(tree.error().line(), testing::AllOf(testing::HasSubstr("speed"), testing::HasSubstr("tps_per_gpu")));
}

TEST(Explain, JsonHasTheDocumentedKeys)
{
    const Json json = explanation_json(predict(example("llama-3.1-8b-tsubame4-16")));
    for (const std::string& figure : explained_figures()) {
        ASSERT_TRUE(json.contains(figure));
        for (const char* key : {"label", "value", "unit", "formula", "source", "children"})
            EXPECT_TRUE(json[figure].contains(key)) << figure << " " << key;
    }
}

} // namespace
} // namespace fourfold::test
