// SPDX-License-Identifier: GPL-3.0-or-later
// What the trainer does not run is refused by name, and what it runs is not refused.
#include "core/plan/trainable.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

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
    EXPECT_EQ(fields({"model=\"gpt3-175b\""}), List{});
    EXPECT_EQ(fields({"model=\"bloom-176b\""}), List{});
    for (const char* schedule : {"zb-h1", "zb-v", "dualpipe-v"})
        EXPECT_EQ(fields({"gpus=2", "layout.pp=2", "training.schedule=\"" + std::string(schedule) + "\""}), List{});
    EXPECT_EQ(fields({"gpus=2", "layout.tp=2", "training.async_tp=true"}), List{});
    EXPECT_EQ(fields({"gpus=2", "layout.cp=2"}), List{});
    EXPECT_EQ(fields({"gpus=2", "layout.cp=2", "training.cp_method=\"all-gather\""}), List{});
    for (const char* sharding : {"optimizer", "gradients", "parameters", "hybrid"})
        EXPECT_EQ(fields({"gpus=2", "layout.dp=2", "training.sharding=\"" + std::string(sharding) + "\""}), List{});
    EXPECT_EQ(fields({"run.checkpoint.every=10", "run.checkpoint.load=\"/somewhere\""}), List{});
    EXPECT_TRUE(trainer_limits(example_plan()).empty());
    EXPECT_TRUE(check(example_plan()).empty());
}

TEST(TrainerLimits, EachFeatureNamesItsField)
{
    EXPECT_EQ(fields({"gpus=2", "layout.cp=2", "training.cp_method=\"ulysses\""}), List{"training.cp_method"});
    EXPECT_EQ(fields({"training.precision=\"fp8\""}), List{"training.precision"});
    EXPECT_EQ(fields({"training.precision=\"fp16\""}), List{"training.precision"});
    EXPECT_EQ(fields({"training.optimizer=\"adam\""}), List{"training.optimizer"});
    EXPECT_EQ(fields({"training.offload=\"optimizer\""}), List{"training.offload"});
    EXPECT_EQ(fields({"training.compile=true"}), List{"training.compile"});
    EXPECT_EQ(fields({"run.checkpoint.load=\"somewhere\""}), List{"run.checkpoint.load"});
    EXPECT_EQ(fields({"model=\"mixtral-8x7b\""}), List{"model"});
    EXPECT_EQ(fields({"model={\"model_type\":\"gpt_neox\",\"hidden_size\":32,\"num_hidden_layers\":2,"
                      "\"num_attention_heads\":4,\"intermediate_size\":64,\"vocab_size\":61}"}),
        List{"model.model_type"});
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
