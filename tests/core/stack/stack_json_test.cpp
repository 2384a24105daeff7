// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stack/stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace fourfold {
namespace {

using testing::HasSubstr;

const Json kFull = Json::parse(R"({
        "id": "some-stack", "name": "Some stack", "source": "fitted to a table", "date": "2026-11-21",
        "memory_convention": "peak_allocated", "memory_stage": 0, "stage_split": "cost", "pipeline_rules": {"fill_warm_up": true}, "vocab_multiple": 64,
        "order": ["tp", "cp", "dp", "pp"],
        "training_defaults": {"sharding": "optimizer", "fsdp": {"layers_per_unit": 2}},
        "constants": {"source": "8 rows", "gemm_efficiency": 0.8, "host_ms": {"value": 11.6, "source": "row 3"}},
        "gpu_constants": {"a100-40gb-sxm": {"gemm_efficiency": 0.95, "date": "2024-10-22"}, "source": "same table"} })");

TEST(Stack, ReadsEveryKey)
{
    const auto stack = stack_from_json(kFull, "s.json");
    ASSERT_TRUE(stack) << stack.error().line();
    EXPECT_EQ(stack->id, "some-stack");
    EXPECT_EQ(stack->memory_convention, MemoryConvention::peak_allocated);
    EXPECT_EQ(stack->memory_stage, 0);
    EXPECT_EQ(stack->vocab_multiple, 64);
    EXPECT_EQ(stack->stage_split, StageSplit::cost);
    EXPECT_EQ(stack->pipeline_rules, (PipelineRules{.fill_warm_up = true}));
    EXPECT_EQ(stack->order, (std::array{Dimension::tp, Dimension::cp, Dimension::dp, Dimension::pp}));
    EXPECT_EQ(stack->training_defaults["sharding"], "optimizer");
    EXPECT_EQ(stack->constants, (std::map<std::string, double>{{"gemm_efficiency", 0.8}, {"host_ms", 11.6}}));
    ASSERT_EQ(stack->gpu_constants.size(), 1u);
    EXPECT_EQ(stack->gpu_constants.at("a100-40gb-sxm"), (std::map<std::string, double>{{"gemm_efficiency", 0.95}}));
}

TEST(Stack, TheGpusConstantWinsOverTheStacksOverTheFallback)
{
    const auto stack = stack_from_json(kFull, "s.json");
    ASSERT_TRUE(stack);
    EXPECT_EQ(stack->constant("gemm_efficiency", "a100-40gb-sxm", 0.1), 0.95);
    EXPECT_EQ(stack->constant("gemm_efficiency", "h100-80gb-sxm", 0.1), 0.8);
    EXPECT_EQ(stack->constant("host_ms", "a100-40gb-sxm", 0.1), 11.6);
    EXPECT_EQ(stack->constant("unheard_of", "a100-40gb-sxm", 0.1), 0.1);
    EXPECT_TRUE(stack->calibrated_for("a100-40gb-sxm"));
    EXPECT_FALSE(stack->calibrated_for("h100-80gb-sxm"));
}

TEST(Stack, WritesWhatItReads)
{
    const auto stack = stack_from_json(kFull, "s.json");
    ASSERT_TRUE(stack);
    const Json written = to_json(*stack);
    EXPECT_FALSE(written.contains("source"));
    const auto again = stack_from_json(written, "again");
    ASSERT_TRUE(again) << again.error().line();
    EXPECT_EQ(to_json(*again), written);
    EXPECT_EQ(written["order"], Json({"tp", "cp", "dp", "pp"}));
    EXPECT_EQ(written["memory_convention"], "peak_allocated");
    EXPECT_EQ(written["training_defaults"], kFull["training_defaults"]);
}

TEST(Stack, OnlyTheIdIsNeeded)
{
    const auto stack = stack_from_json({{"id", "bare"}}, "s.json");
    ASSERT_TRUE(stack) << stack.error().line();
    EXPECT_EQ(stack->name, "bare");
    EXPECT_EQ(stack->order, kDimensions);
    EXPECT_EQ(stack->memory_stage, -1);
    EXPECT_TRUE(stack->training_defaults.is_object());
    EXPECT_TRUE(stack->constants.empty());
}

TEST(Stack, NamesTheWrongField)
{
    struct Case {
        const char* pointer;
        Json value;
        const char* where;
        const char* message;
    };
    const Case cases[]{
        {"/id", nullptr, "s.json: id", "missing key"},
        {"/memory_convention", "rss", "s.json: memory_convention", "peak_reserved"},
        {"/memory_stage", -2, "s.json: memory_stage", "from -1"},
        {"/stage_split", "uneven", "s.json: stage_split", "even"},
        {"/pipeline_rules/fill_1f1b", "yes", "s.json: pipeline_rules: fill_1f1b", "true or false"},
        {"/vocab_multiple", 0, "s.json: vocab_multiple", "found 0"},
        {"/order", "tp", "s.json: order", "innermost first"},
        {"/order", {"tp", "cp", "dp"}, "s.json: order", "each once"},
        {"/order", {"tp", "tp", "dp", "pp"}, "s.json: order", "each once"},
        {"/order", {"tp", "cp", "dp", 3}, "s.json: order", "each once"},
        {"/training_defaults", 3, "s.json: training_defaults", "expected an object"},
        {"/constants/gemm_efficiency", "0.8", "s.json: constants: gemm_efficiency", "a number"},
        {"/constants/host_ms/value", true, "s.json: constants: host_ms", "a number"},
        {"/constants/gemm_efficiency", 0, "s.json: constants: gemm_efficiency", "a number above 0 to 1000000"},
        {"/constants/step_overhead_s", -0.1, "s.json: constants: step_overhead_s", "a number from 0 to 1000000"},
        {"/gpu_constants/a100-40gb-sxm", {{"fragmentation", 1e308}},
            "s.json: gpu_constants: a100-40gb-sxm: fragmentation", "a number from 0 to 1000000"},
        {"/gpu_constants/a100-40gb-sxm", 0.95, "s.json: gpu_constants: a100-40gb-sxm", "expected an object"},
    };
    for (const Case& wrong : cases) {
        Json json = kFull;
        json[Json::json_pointer(wrong.pointer)] = wrong.value;
        const auto stack = stack_from_json(json, "s.json");
        ASSERT_FALSE(stack) << wrong.pointer;
        EXPECT_EQ(stack.error().where, wrong.where);
        EXPECT_THAT(stack.error().message, HasSubstr(wrong.message));
    }
}

TEST(Stack, EveryPresetReadsAndNamesItsSource)
{
    namespace fs = std::filesystem;
    int presets = 0;
    for (const auto& entry : fs::directory_iterator(fs::path(FOURFOLD_SOURCE_DIR) / "presets" / "stacks")) {
        if (entry.path().extension() != ".json")
            continue;
        ++presets;
        const auto json = read_json_file(entry.path());
        ASSERT_TRUE(json) << json.error().line();
        const auto stack = stack_from_json(*json, entry.path().filename());
        ASSERT_TRUE(stack) << stack.error().line();
        EXPECT_EQ(stack->id, entry.path().stem().string());
        EXPECT_TRUE(json->contains("source")) << entry.path();
        // GPU constants belong to a GPU that exists.
        for (const auto& [gpu_id, constants] : stack->gpu_constants)
            EXPECT_TRUE(fs::exists(fs::path(FOURFOLD_SOURCE_DIR) / "presets" / "gpus" / (gpu_id + ".json"))) << gpu_id;
        const auto again = stack_from_json(to_json(*stack), "again");
        ASSERT_TRUE(again) << again.error().line();
        EXPECT_EQ(again->constants, stack->constants);
        EXPECT_EQ(again->gpu_constants, stack->gpu_constants);
    }
    EXPECT_GE(presets, 6); // fourfold, generic, megatron-lm, megatron-deepspeed, torchtitan, nanotron
}

} // namespace
} // namespace fourfold
