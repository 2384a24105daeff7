// SPDX-License-Identifier: GPL-3.0-or-later
// What the trainer does not run is refused by name, and what it runs is not refused.
#include "core/plan/trainable.h"
#include "tests/parity/compare.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fourfold::testing {
namespace {

std::vector<std::string> fields(const std::vector<std::string>& assignments)
{
    const TemporaryFolder folder;
    std::vector<std::string> fields;
    for (const Reason& reason : trainer_limits(tiny_plan(folder.path() / "tokens.bin", assignments))) {
        EXPECT_TRUE(reason.code.starts_with("trainer_")) << reason.code;
        EXPECT_FALSE(reason.message.empty());
        fields.push_back(reason.field);
    }
    return fields;
}

using List = std::vector<std::string>;

TEST(TrainerLimits, RunnablePlansPass)
{
    EXPECT_EQ(fields({}), List{});
    EXPECT_EQ(fields({"gpus=4", "layout.tp=2", "layout.dp=2"}), List{});
    EXPECT_EQ(fields({"training.recompute=\"full\"", "training.schedule=\"gpipe\""}), List{});
    EXPECT_EQ(fields({"training.recompute=\"selective\"", "gpus=2", "layout.pp=2"}), List{});
    for (const char* parts : {"[\"operations\"]", "[\"mlp\",\"layer-norm\",\"core-attention\"]"})
        EXPECT_EQ(fields({"training.recompute=\"selective\"", "training.recompute_every=2",
                      "training.recompute_parts=" + std::string(parts)}),
            List{});
    EXPECT_EQ(fields({"model=\"gpt3-175b\""}), List{});
    EXPECT_EQ(fields({"model=\"bloom-176b\""}), List{});
    EXPECT_EQ(fields({"model=\"mixtral-8x7b\""}), List{});
    EXPECT_EQ(fields({"model=\"deepseek-v3\""}), List{});
    EXPECT_EQ(fields({"model=\"mixtral-8x7b\"", "gpus=4", "layout.tp=2", "layout.dp=2", "layout.ep=4", "layout.etp=1"}),
        List{});
    for (const char* schedule : {"zb-h1", "zb-v", "dualpipe-v"})
        EXPECT_EQ(fields({"gpus=2", "layout.pp=2", "training.schedule=\"" + std::string(schedule) + "\""}), List{});
    EXPECT_EQ(fields({"gpus=2", "layout.tp=2", "training.async_tp=true"}), List{});
    EXPECT_EQ(fields({"gpus=2", "layout.cp=2"}), List{});
    EXPECT_EQ(
        fields({"gpus=2", "layout.cp=2", "training.cp_method=\"ulysses\"", "training.attention=\"unfused\""}), List{});
    for (const char* model : {"qwen3-8b", "gemma-3-4b", "gpt-neox-20b"})
        EXPECT_EQ(fields({"model=\"" + std::string(model) + "\""}), List{}) << model;
    EXPECT_EQ(fields({"gpus=2", "layout.cp=2", "training.cp_method=\"all-gather\""}), List{});
    for (const char* sharding : {"optimizer", "gradients", "parameters", "hybrid"})
        EXPECT_EQ(fields({"gpus=2", "layout.dp=2", "training.sharding=\"" + std::string(sharding) + "\""}), List{});
    for (const char* optimizer : {"adam", "adamw", "fused-adam", "fused-adamw", "muon"})
        EXPECT_EQ(fields({"training.optimizer=\"" + std::string(optimizer) + "\""}), List{});
    EXPECT_EQ(fields({"training.grad_dtype=\"bf16\"", "training.optimizer_state_dtype=\"bf16\""}), List{});
    for (const char* what : {"activations", "optimizer"})
        EXPECT_EQ(fields({"training.offload=\"" + std::string(what) + "\""}), List{}) << what;
    EXPECT_EQ(fields({"training.precision=\"fp16\""}), List{});
    EXPECT_EQ(fields({"training.precision=\"fp16\"", "training.grad_dtype=\"fp16\""}), List{});
    EXPECT_EQ(fields({"run.steps=5", R"(training.ramp_up={"start":4,"increment":4,"samples":16})"}), List{});
    for (const char* method : {"ring", "all-gather", "ulysses"})
        EXPECT_EQ(fields({"gpus=2", "layout.cp=2", "training.cp_method=\"" + std::string(method) + "\"",
                      R"(run.documents={"mask":true,"restart_positions":true})", "run.data_order=\"epochs\""}),
            List{});
    EXPECT_EQ(fields({"run.checkpoint.every=10", "run.checkpoint.load=\"/somewhere\""}), List{});
    EXPECT_TRUE(trainer_limits(example_plan()).empty());
    EXPECT_TRUE(check(example_plan()).empty());
}

TEST(TrainerLimits, EachFeatureNamesItsField)
{
    EXPECT_EQ(fields({"gpus=2", "layout.cp=2", "training.attention=\"unfused\""}), List{"training.attention"});
    EXPECT_EQ(fields({"training.attention=\"cudnn\""}), List{"training.attention"});
    EXPECT_EQ(fields({"training.attention=\"flash3\""}), List{"training.attention"});
    EXPECT_EQ(fields({"run.documents.restart_positions=true"}), List{"run.documents.restart_positions"});
    EXPECT_EQ(fields({R"(run.documents={"mask":true,"end":61})"}), List{"run.documents.end"});
    const std::string fp8 = "training.precision=\"fp8\"";
    EXPECT_EQ(fields({fp8}), List{});
    EXPECT_EQ(fields({fp8, "gpus=2", "layout.tp=2"}), List{"training.precision"}); // keys of 8
    EXPECT_EQ(fields({fp8, "model.intermediate_size=40"}), List{"training.precision"});
    EXPECT_EQ(fields({fp8, "gpus=2", "layout.cp=2"}), List{"training.seq_len"}); // four tokens at a time
    EXPECT_EQ(fields({fp8, "training.fp8_recipe=\"blockwise\""}), (List{"training.precision", "training.seq_len"}));
    EXPECT_EQ(fields({fp8, "model=\"mixtral-8x7b\""}), List{});
    EXPECT_EQ(fields({fp8, "model=\"deepseek-v3\"", "gpus=4", "layout.dp=4", "layout.ep=4"}), List{});
    for (const char* recipe : {"blockwise", "mxfp8"}) {
        const List experts{fp8, "model=\"mixtral-8x7b\"", "training.fp8_recipe=\"" + std::string(recipe) + '"',
            "training.seq_len=128", "gpus=4", "layout.tp=2", "layout.dp=2"};
        EXPECT_EQ(fields(joined(experts, {"layout.ep=2"})), List{}) << recipe;
        // It does not equal one rank where experts take the rows of tp ranks one by one.
        EXPECT_THAT(fields(joined(experts, {"layout.ep=4", "layout.etp=1"})), ::testing::Contains("layout.etp"))
            << recipe;
        EXPECT_EQ(fields(joined(experts, {"layout.ep=4", "layout.etp=1", "training.fp8_scale_group=\"rank\""})), List{})
            << recipe; // as they come
    }
    EXPECT_EQ(fields({fp8, "model=\"deepseek-v3\"", "gpus=2", "layout.tp=2", "training.seq_len=32"}), List{});
    EXPECT_EQ(fields({fp8, "model=\"deepseek-v3\"", "gpus=4", "layout.tp=4", "training.seq_len=32"}),
        List{"training.seq_len"}); // eight tokens of each rank go through what makes latents
    EXPECT_EQ(fields({fp8, "model.model_type=\"mixtral\"", "model.num_local_experts=4", "model.num_experts_per_tok=2",
                  "model.intermediate_size=40"}),
        List{"training.precision"});
    EXPECT_EQ(fields({fp8, "model=\"llama-3.1-8b\"", "gpus=8", "layout.tp=8", "training.fp8_recipe=\"blockwise\"",
                  "training.seq_len=8192"}),
        List{});
    EXPECT_EQ(fields({"training.grad_dtype=\"fp16\""}), List{"training.grad_dtype"});
    EXPECT_EQ(fields({"training.optimizer_state_dtype=\"fp8\""}), List{"training.optimizer_state_dtype"});
    EXPECT_EQ(fields({"run.steps=4", R"(training.ramp_up={"start":4,"increment":4,"samples":16})"}),
        List{"training.ramp_up.samples"});
    EXPECT_EQ(fields({"run.checkpoint.load=\"somewhere\""}), List{"run.checkpoint.load"});
    // All tp ranks have the same tokens: each would send them to the same expert.
    EXPECT_EQ(fields({"model=\"mixtral-8x7b\"", "gpus=4", "layout.tp=2", "layout.dp=2", "layout.etp=1",
                  "training.sequence_parallel=false"}),
        List{"layout.etp"});
    EXPECT_EQ(fields({"model=\"nemotron-4-15b\""}), List{"model.model_type"});
    EXPECT_EQ(fields({"model=\"gpt3-175b\"", "training.seq_len=4096"}), List{"training.seq_len"});
}

TEST(TrainerLimits, AFamilyWithoutARowIsRefusedByName)
{
    ResolvedPlan plan = example_plan();
    ASSERT_TRUE(check_trainer_family(plan.model));
    plan.model.model_type = "made_up";
    const auto reasons = trainer_limits(plan);
    ASSERT_EQ(reasons.size(), 1u);
    EXPECT_EQ(reasons[0].field, "model.model_type");
    const auto family = check_trainer_family(plan.model); // what the trainer asks when it is made
    ASSERT_FALSE(family);
    EXPECT_TRUE(reasons[0].message.starts_with(family.error().message)) << reasons[0].message;
    EXPECT_EQ(family.error().message, "fourfold-trainer does not run models of the family \"made_up\" yet");
}

TEST(TrainerLimits, APathThatAShellWouldExpandIsRefused)
{
    EXPECT_EQ(fields({"run.checkpoint.path=\"~/checkpoints\""}), List{"run.checkpoint.path"});
    EXPECT_EQ(fields({"run.checkpoint.path=\"~\""}), List{"run.checkpoint.path"});
    for (const char* path : {"", "checkpoints", "/scratch/~me", "~names"})
        EXPECT_EQ(fields({"run.checkpoint.path=\"" + std::string(path) + "\""}), List{}) << path;
}

TEST(TrainerLimits, NoDataIsNothingToTrainOn)
{
    ResolvedPlan plan = example_plan();
    plan.run.data.clear();
    const auto reasons = trainer_limits(plan);
    ASSERT_EQ(reasons.size(), 1u);
    EXPECT_EQ(reasons[0].field, "run.data");
}

} // namespace
} // namespace fourfold::testing
