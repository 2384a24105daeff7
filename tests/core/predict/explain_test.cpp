// SPDX-License-Identifier: GPL-3.0-or-later
// Explanations: every level adds up, and the trees say what the prediction says.
#include "core/predict/explain.h"
#include "core/program/allocations.h"
#include "tests/core/predict/random_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
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

// A stage with several chunks does the same in each: it is said once, with how often.
TEST(Explain, AnOperationStandsThereOnceNotOncePerChunk)
{
    const Prediction p = predict(example("llama-3.1-405b-torchtitan-512"));
    ASSERT_GT(p.plan.layout.virtual_stages, 1);
    const auto expect_once = [](const Explanation& part) {
        std::set<std::string> seen;
        for (const Explanation& node : part.children) {
            const std::size_t how_often = node.formula.rfind(" times per ");
            const std::size_t end = how_often == std::string::npos ? how_often : node.formula.rfind(", ", how_often);
            EXPECT_TRUE(seen.insert(node.label + " = " + node.formula.substr(0, end)).second)
                << part.label << ": " << node.label << " = " << node.formula;
        }
    };
    const auto step = explain(p, "step_time_s");
    ASSERT_TRUE(step);
    for (const Explanation& part : step->children)
        expect_once(part);
    for (const Span& span : p.timeline.spans) {
        if (span.kind != SpanKind::forward || span.stage != 1)
            continue;
        expect_once(explain_span(p, span.kind, span.end_s - span.start_s));
        return;
    }
    FAIL() << "no forward pass in the timeline";
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

// Each stage has its own, not the fullest one's.
TEST(Explain, EveryStageHasADerivation)
{
    const Prediction p = predict(example("llama-3.1-405b-torchtitan-512"));
    ASSERT_GT(p.memory_by_stage.size(), 1u);
    std::set<double> sizes;
    for (const StageMemory& memory : p.memory_by_stage) {
        const Explanation tree = explain_stage(p, memory.stage);
        EXPECT_EQ(tree.label, "stage " + std::to_string(memory.stage));
        EXPECT_EQ(tree.value, memory.total());
        expect_sums(tree, tree.label);
        ASSERT_NE(child(tree, "activations"), nullptr);
        EXPECT_EQ(child(tree, "activations")->value, memory.activations);
        sizes.insert(*tree.value);
    }
    EXPECT_GT(sizes.size(), 1u) << "the stages differ";
    EXPECT_FALSE(explain_stage(p, static_cast<int>(p.memory_by_stage.size())).value);
    EXPECT_FALSE(explain_stage(Prediction(), 0).value);
}

// How sure an answer is rests on measurements: of the constants, the nearest published one, the user's own.
TEST(Explain, TheIntervalNamesWhatWasMeasured)
{
    Prediction p = predict(example("llama-3.1-8b-tsubame4-16"));
    const auto tree = [&p] { return *explain(p, "interval"); };
    const Explanation constants = tree();
    const Explanation* fitted = child(constants, "runs that the constants were fitted to");
    ASSERT_NE(fitted, nullptr);
    EXPECT_EQ(fitted->value, p.plan.stack.measured.at(p.plan.cluster.gpu.id).runs);
    EXPECT_EQ(child(constants, "nearest published measurement"), nullptr);
    EXPECT_EQ(child(constants, "your own runs near this layout"), nullptr);
    p.nearest = NearestMeasured{"table", "7", 2, 1, 1, 8, 1, true, std::log(1.25), true};
    p.own_shift = OwnShift{3, 0.5, 1.1};
    const Explanation weighed = tree();
    const Explanation* row = child(weighed, "nearest published measurement");
    ASSERT_NE(row, nullptr);
    EXPECT_NEAR(*row->value, 0.25, 1e-12);
    EXPECT_EQ(row->source, "table row 7");
    ASSERT_NE(child(weighed, "your own runs near this layout"), nullptr);
    EXPECT_EQ(child(weighed, "your own runs near this layout")->value, 3);
    p.plan.cluster.gpu.id = "another";
    EXPECT_EQ(child(tree(), "runs that the constants were fitted to")->value, 0);
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

// Reads the arithmetic of a formula's text and passes over its words: "bytes 2 * (hidden 4096 / TP 4)" is 2048. A size
// has its unit behind it, "one layer 12.3 MB".
class Reader {
public:
    explicit Reader(std::string_view text)
        : text_(text)
    {
    }
    double sum()
    {
        double value = product();
        for (skip(); at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-'); skip()) {
            const char sign = text_[at_++];
            value += sign == '+' ? product() : -product();
        }
        return value;
    }
    [[nodiscard]] bool at_end() const { return at_ == text_.size(); }

private:
    double product()
    {
        double value = number();
        for (skip(); at_ < text_.size() && (text_[at_] == '*' || text_[at_] == '/'); skip()) {
            const bool times = text_[at_++] == '*';
            const double factor = number();
            value = times ? value * factor : value / factor;
        }
        return value;
    }
    double number()
    {
        skip();
        if (at_ < text_.size() && text_[at_] == '(') {
            ++at_;
            const double value = sum();
            skip();
            EXPECT_EQ(text_.substr(at_, 1), ")") << text_;
            ++at_;
            return value;
        }
        const std::string rest(text_.substr(at_));
        char* end = nullptr;
        const double value = std::strtod(rest.c_str(), &end);
        EXPECT_NE(end, rest.c_str()) << rest << " in " << text_;
        at_ += std::size_t(end - rest.c_str());
        const std::string_view unit = text_.substr(at_, 3);
        return value * (unit == " MB" ? 1e6 : unit == " GB" ? 1e9 : 1);
    }
    // Blanks and the words of labels and units; some labels have digits in them, but none begins with one.
    void skip()
    {
        while (at_ < text_.size() && (text_[at_] == ' ' || std::isalpha(static_cast<unsigned char>(text_[at_])) != 0)) {
            while (
                at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
                ++at_;
            while (at_ < text_.size() && text_[at_] == ' ')
                ++at_;
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

void expect_text_comes_to(double value, const std::string& text)
{
    Reader reader(text);
    EXPECT_NEAR(reader.sum() / value, 1, 3e-3) << text; // texts have four digits
    EXPECT_TRUE(reader.at_end()) << text;
}

void expect_text_comes_to(const Formula::Named& named)
{
    expect_text_comes_to(named.value, named.text);
    for (const Formula::Named& inner : named.named)
        expect_text_comes_to(inner);
}

// A size and its explanation are one template; what the text says is what it comes to.
TEST(Explain, EveryAllocationReadsAsItsBytes)
{
    std::set<std::string_view> seen;
    const auto same = [&](const std::vector<Allocation>& sizes, const std::vector<AllocationOf<Formula>>& explained) {
        ASSERT_EQ(sizes.size(), explained.size());
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            seen.insert(sizes[i].name);
            EXPECT_EQ(sizes[i].name, explained[i].name);
            EXPECT_EQ(sizes[i].lifetime, explained[i].lifetime);
            EXPECT_EQ(sizes[i].bytes, explained[i].bytes.value()) << sizes[i].name;
            expect_text_comes_to(sizes[i].bytes, explained[i].bytes.text());
            for (const Formula::Named& named : explained[i].bytes.named())
                expect_text_comes_to(named);
        }
    };
    const auto check = [&](const ResolvedPlan& plan) {
        SCOPED_TRACE(to_json(plan, PresetStyle::ids).dump());
        const RankShape rank = rank_shape(plan);
        const std::vector<int> homes
            = chunk_placement(plan.training.schedule, plan.layout.pp, plan.layout.virtual_stages);
        const std::vector<ChunkShape> shapes = chunk_shapes(plan, homes);
        for (const StageProgram& stage : build_program(plan, homes)) {
            StageParameters parameters;
            for (const ChunkProgram& chunk : stage.chunks) {
                const ChunkShape& shape = shapes[std::size_t(chunk.chunk)];
                add_chunk_parameters(parameters, plan, rank, shape);
                same(chunk.allocations, chunk_allocations<Formula>(plan, rank, shape));
            }
            same(stage.allocations, state_allocations<Formula>(plan, rank, parameters));
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
    plan.training.offload = Offload::none;
    plan.training.optimizer_in_backward = true;
    plan.training.micro_batches = 1;
    check(plan);
    plan.stack.constants["gradient_buffers"] = 3;
    check(plan);
    EXPECT_GE(seen.size(), 15u) << "of the names in core/program";
}

TEST(Explain, WeightsOpenIntoTheParametersOfTheGpu)
{
    for (const char* id : {"llama-3.1-8b-tsubame4-16", "bloom-200b-jean-zay-320"}) {
        const Prediction p = predict(example(id));
        const Explanation* weights = nullptr;
        const Explanation tree = *explain(p, "memory_gib");
        ASSERT_NE(weights = child(tree, "weights"), nullptr);
        ASSERT_NE(weights = child(*weights, "weights"), nullptr);
        const Explanation* parameters = child(*weights, "parameters of this GPU");
        ASSERT_NE(parameters, nullptr);
        double largest = 0;
        for (const StageProgram& stage : build_program(p.plan))
            largest = std::max(largest, stage.parameters);
        EXPECT_NEAR(*parameters->value / largest, 1, 1e-12) << id;
    }
}

// Muon keeps no variance of its matrices; what an optimizer in the backward pass holds of gradients is named.
TEST(Explain, NamesTheStatesOfTheOptimizerThatIs)
{
    ResolvedPlan plan = example("llama-3.1-8b-tsubame4-16");
    const auto note = [&](const char* kind, const char* what) {
        const Explanation tree = *explain(predict(plan), "memory_gib");
        const Explanation* node = child(tree, kind);
        node = node != nullptr ? child(*node, what) : nullptr;
        return node != nullptr ? node->source : "";
    };
    EXPECT_EQ(note("optimizer", "optimizer states").find("Muon"), std::string::npos);
    plan.training.optimizer = Optimizer::muon;
    EXPECT_NE(note("optimizer", "optimizer states").find("variance of what Muon does not update"), std::string::npos);
    plan.training.optimizer = Optimizer::fused_adamw;
    plan.training.optimizer_in_backward = true;
    plan.training.micro_batches = 1;
    plan.training.global_batch = plan.training.micro_batch * plan.layout.dp;
    plan.run.clip_norm = 0;
    plan.run.watch.not_finite = NotFiniteAction::stop;
    EXPECT_EQ(note("gradients", "gradients"), "");
    EXPECT_NE(note("gradients", "gradients of a unit").find("freed as soon as"), std::string::npos);
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
