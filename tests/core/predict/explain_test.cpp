// SPDX-License-Identifier: GPL-3.0-or-later
// Explanations: every level adds up, and the trees say what the prediction says.
#include "core/predict/allocation_formula.h"
#include "core/predict/explain.h"
#include "core/program/build.h"
#include "tests/core/predict/random_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <string_view>

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

// The words of a formula are a second way to the same bytes: they may not drift from the sizes that are used.
TEST(Explain, EveryAllocationHasAFormulaThatComesToItsBytes)
{
    std::set<std::string_view> seen;
    const auto check = [&](const ResolvedPlan& plan) {
        SCOPED_TRACE(to_json(plan, PresetStyle::ids).dump());
        for (const StageProgram& stage : build_program(plan)) {
            const AllocationFormulas formulas(plan, stage);
            const auto same = [&](const Allocation& allocation, int chunk) {
                seen.insert(allocation.name);
                const AllocationFormula formula = formulas.of(allocation, chunk);
                EXPECT_NEAR(formula.bytes / allocation.bytes, 1, 1e-12) << allocation.name << ": " << formula.text;
                EXPECT_FALSE(formula.text.empty()) << allocation.name;
            };
            for (const Allocation& allocation : stage.allocations) {
                same(allocation, -1);
                if (allocation.name == "weights") {
                    EXPECT_NEAR(*formulas.of(allocation, -1).inputs.at(0).value / stage.parameters, 1, 1e-12);
                }
            }
            for (const ChunkProgram& chunk : stage.chunks) {
                for (const Allocation& allocation : chunk.allocations)
                    same(allocation, chunk.chunk);
            }
        }
    };
    for (const ResolvedPlan& plan : random_valid_plans(400, 11))
        check(plan);
    // What random plans of the presets' stacks do not meet.
    ResolvedPlan plan = example("llama-3.1-8b-tsubame4-16");
    plan.training.optimizer = Optimizer::adamw;
    plan.training.schedule = Schedule::zb_h1;
    plan.layout.pp = 2;
    plan.layout.stage_layers = {16, 16};
    check(plan);
    plan.training.offload = Offload::activations;
    plan.training.attention = AttentionKernel::unfused;
    plan.training.recompute = Recompute::selective;
    check(plan);
    plan.training.compile = false;
    plan.training.async_tp = true;
    plan.training.recompute = Recompute::full;
    plan.training.recompute_layers = 5;
    check(plan);
    EXPECT_GE(seen.size(), 15u) << "of the names in core/program";
}

// What a product's text says is what it comes to: evaluated here as text.
TEST(Explain, AFormulaReadsAsItsValue)
{
    const ResolvedPlan plan = example("llama-3.1-8b-tsubame4-16");
    const std::vector<StageProgram> program = build_program(plan);
    const StageProgram& stage = program.front();
    const AllocationFormulas formulas(plan, stage);
    for (const Allocation& allocation : stage.allocations) {
        if (allocation.name != "weights")
            continue;
        double bytes = 0, parameters = 0;
        const std::string text = formulas.of(allocation, -1).text;
        ASSERT_EQ(std::sscanf(text.c_str(), "%lf bytes * %lf B parameters", &bytes, &parameters), 2) << text;
        EXPECT_NEAR(bytes * parameters * 1e9 / allocation.bytes, 1, 1e-3) << text;
    }
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
