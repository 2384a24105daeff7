// SPDX-License-Identifier: GPL-3.0-or-later
// What is published and shipped runs as it is written: the trainer refuses none of it, and its twins on this computer
// equal one rank.
#include "core/plan/presets.h"
#include "core/plan/trainable.h"
#include "tests/parity/compare.h"
#include "tests/parity/twins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace fourfold::testing {
namespace {

// Fields that stand in the way, but for data, which a plan of many GPUs does not bring.
std::vector<std::string> refused(const ResolvedPlan& plan)
{
    std::vector<std::string> fields;
    for (const Reason& reason : trainer_limits(plan))
        if (reason.field != "run.data")
            fields.push_back(reason.field + ": " + reason.message);
    return fields;
}

TEST(Twins, EveryShippedPlanIsRunnableAsWritten)
{
    const auto plans = shipped_plans();
    EXPECT_GE(plans.size(), 16U);
    for (const auto& [name, plan] : plans)
        EXPECT_THAT(refused(plan), ::testing::IsEmpty()) << name;
}

TEST(Twins, EighteenOfTorchtitansRowsAreRunnableAsWritten)
{
    const auto rows = torchtitan_rows();
    EXPECT_EQ(rows.size(), 18U);
    for (const auto& [name, plan] : rows)
        EXPECT_THAT(refused(plan), ::testing::IsEmpty()) << name;
}

TEST(Twins, LoseNoDegreeAndNoTechnique)
{
    auto plans = shipped_plans();
    const auto rows = torchtitan_rows();
    plans.insert(plans.end(), rows.begin(), rows.end());
    for (const auto& [name, plan] : plans) {
        const Case twin = twin_of(plan, name);
        const std::set<std::string> says = [&] {
            std::set<std::string> all(twin.mesh.begin(), twin.mesh.end());
            all.insert(twin.model.begin(), twin.model.end());
            return all;
        }();
        const auto keeps = [&](const std::string& path, int degree) {
            EXPECT_TRUE(says.contains(path + "=" + std::to_string(std::min(degree, 2)))) << name << " " << path;
        };
        keeps("layout.tp", plan.layout.tp);
        keeps("layout.cp", plan.layout.cp);
        keeps("layout.pp", plan.layout.pp);
        keeps("layout.dp", plan.layout.dp);
        keeps("layout.ep", plan.layout.ep);
        keeps("layout.virtual_stages", plan.layout.virtual_stages);
        ResolvedPlan ours = plan;
        ASSERT_TRUE(hand_to_trainer(ours, Presets()));
        const Json written = training_json(ours);
        for (const char* key :
            {"schedule", "sharding", "recompute", "recompute_parts", "precision", "grad_dtype", "async_tp",
                "sequence_parallel", "compile", "optimizer", "optimizer_state_dtype", "cp_method", "attention"})
            if (written.contains(key)) {
                EXPECT_TRUE(says.contains("training." + std::string(key) + "=" + written[key].dump())) << name << key;
            }
    }
}

// Interleaved stages, fp8 and asynchronous TP; selective recomputation by operation; fp16 with its gradients; BLOOM's;
// experts.
const std::set<std::string> kCovering{"llama_3_1_405b_torchtitan_512", "llama_3_1_8b_torchtitan_fsdp_128",
    "gpt_1_3b_a100_8", "bloom_181b_jean_zay_384", "this_computer_experts"};

class Twin : public ::testing::TestWithParam<Case> { };

TEST_P(Twin, EqualsOneRank)
{
    EXPECT_EQ(excess(compare_with_one_rank(GetParam(), {"--fp64"}, {"--fp64"})), "");
}

std::vector<Case> twins()
{
    auto all = all_twins();
#ifndef FOURFOLD_EVERY_MESH
    std::erase_if(all, [](const Case& twin) { return !kCovering.contains(twin.name); });
#endif
    return all;
}

TEST(Twins, CoveringOnesAreAmongThem)
{
    std::set<std::string> names;
    for (const Case& twin : all_twins())
        names.insert(twin.name);
    for (const std::string& name : kCovering)
        EXPECT_TRUE(names.contains(name)) << name;
}

INSTANTIATE_TEST_SUITE_P(
    OfShippedPlans, Twin, ::testing::ValuesIn(twins()), [](const auto& info) { return info.param.name; });

} // namespace
} // namespace fourfold::testing
