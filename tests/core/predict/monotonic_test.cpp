// SPDX-License-Identifier: GPL-3.0-or-later
// Directions that any honest model has, whatever its constants.
#include "core/predict/prediction.h"
#include "tests/core/predict/random_plans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace fourfold::test {
namespace {

Json base(const std::string& stack)
{
    return {{"model", "llama-3.1-8b"}, {"cluster", "dgx-h100"}, {"gpus", 8}, {"stack", stack},
        {"layout", {{"tp", 1}, {"cp", 1}, {"pp", 1}, {"dp", 8}}},
        {"training",
            {{"seq_len", 4096}, {"micro_batch", 1}, {"global_batch", 64}, {"recompute", "none"}, {"precision", "bf16"},
                {"sharding", "optimizer"}, {"sequence_parallel", true}, {"attention", "flash2"}}}};
}

Prediction with(Json plan, const std::vector<std::pair<std::string, Json>>& changes)
{
    for (const auto& [path, value] : changes)
        plan[nlohmann::ordered_json::json_pointer(path)] = value;
    Prediction p = predict(resolved(plan));
    EXPECT_TRUE(p.step_time_s) << (p.reasons.empty() ? "" : p.reasons[0].message);
    return p;
}

double weights(const Prediction& p)
{
    double most = 0;
    for (const StageMemory& stage : p.memory_by_stage)
        most = std::max(most, stage.weights);
    return most;
}

class Directions : public testing::TestWithParam<const char*> {
protected:
    Json plan() const { return base(GetParam()); }
};

TEST_P(Directions, MoreTensorParallelismMeansFewerWeightsAndActivations)
{
    double before = 1e9, activations = 1e9;
    for (int tp : {1, 2, 4, 8}) {
        const Prediction p = with(plan(),
            {{"/layout/tp", tp}, {"/layout/dp", 8 / tp}, {"/training/micro_batches", 4},
                {"/training/global_batch", 4 * 8 / tp}});
        EXPECT_LT(weights(p), before);
        before = weights(p);
        if (GetParam() != std::string("nanotron") && GetParam() != std::string("torchtitan")) {
            EXPECT_LT(p.memory_by_stage[0].activations, activations);
            activations = p.memory_by_stage[0].activations;
        }
    }
}

TEST_P(Directions, MoreStagesMeanFewerWeightsAndMoreBubble)
{
    double before = 1e9, bubble = -1;
    for (int pp : {1, 2, 4, 8}) {
        const Prediction p
            = with(plan(), {{"/layout/pp", pp}, {"/layout/dp", 8 / pp}, {"/training/global_batch", 16 * 8 / pp}});
        EXPECT_LT(weights(p), before);
        EXPECT_GT(p.bubble_fraction + (pp == 1 ? 1e-12 : 0), bubble);
        before = weights(p);
        bubble = p.bubble_fraction;
    }
}

TEST_P(Directions, MoreMicroBatchesMeanASmallerBubble)
{
    double before = 1;
    for (int micro_batches : {4, 8, 16, 64, 256}) {
        const Prediction p
            = with(plan(), {{"/layout/pp", 4}, {"/layout/dp", 2}, {"/training/global_batch", micro_batches * 2}});
        EXPECT_LT(p.bubble_fraction, before);
        before = p.bubble_fraction;
    }
}

TEST_P(Directions, ShardingMoreStatesNeedsLessMemory)
{
    double before = 1e9;
    for (const char* sharding : {"none", "optimizer", "gradients", "parameters"}) {
        const Prediction p = with(plan(), {{"/training/sharding", sharding}});
        EXPECT_LT(*p.memory_gib, before) << sharding;
        before = *p.memory_gib;
    }
}

TEST_P(Directions, RecomputationTradesMemoryForTime)
{
    const Prediction none = with(plan(), {{"/training/recompute", "none"}});
    const Prediction full = with(plan(), {{"/training/recompute", "full"}});
    const Prediction some = with(plan(), {{"/training/recompute", "full"}, {"/training/recompute_layers", 16}});
    EXPECT_LT(*full.memory_gib, *some.memory_gib);
    EXPECT_LT(*some.memory_gib, *none.memory_gib);
    EXPECT_GT(*full.step_time_s, *some.step_time_s);
    EXPECT_GT(*some.step_time_s, *none.step_time_s);
    EXPECT_GT(full.time_by_part[Part::recompute], some.time_by_part[Part::recompute]);
}

TEST_P(Directions, LongerSequencesAndLargerBatchesTakeLonger)
{
    double before = 0;
    for (int seq_len : {1024, 2048, 4096, 8192}) {
        const Prediction p = with(plan(), {{"/training/seq_len", seq_len}});
        EXPECT_GT(*p.step_time_s, before);
        before = *p.step_time_s;
    }
    EXPECT_GT(*with(plan(), {{"/training/global_batch", 128}}).step_time_s, *with(plan(), {}).step_time_s);
}

TEST_P(Directions, SlowerLinksNeverHelp)
{
    Json slow = plan();
    slow["gpus"] = 32;
    slow["layout"] = {{"tp", 2}, {"cp", 2}, {"pp", 2}, {"dp", 4}};
    double before = 0;
    for (double bandwidth : {400.0, 50.0, 12.5, 1.0}) {
        slow["cluster"] = {{"gpu", "h100-80gb-sxm"}, {"gpus_per_node", 8},
            {"intra_node", {{"bandwidth_gb_s", 450}, {"latency_us", 5}}},
            {"inter_node", {{"bandwidth_gb_s", bandwidth}, {"latency_us", 10}}}};
        const Prediction p = with(slow, {});
        EXPECT_GE(*p.step_time_s, before * (1 - 1e-12));
        before = *p.step_time_s;
    }
}

TEST_P(Directions, HybridShardingSharesWithinItsGroupOnly)
{
    Json wide = plan();
    wide["gpus"] = 32;
    wide["layout"]["dp"] = 32;
    const Prediction all = with(wide, {{"/training/sharding", "parameters"}});
    const Prediction groups = with(wide, {{"/training/sharding", "hybrid"}, {"/layout/dp_shard", 8}});
    EXPECT_GT(*groups.memory_gib, *all.memory_gib);
}

INSTANTIATE_TEST_SUITE_P(Stacks, Directions,
    testing::Values("generic", "fourfold", "megatron-lm", "megatron-deepspeed", "torchtitan", "nanotron"),
    [](const auto& info) {
        std::string name = info.param;
        std::replace(name.begin(), name.end(), '-', '_');
        return name;
    });

TEST(Placement, AGroupInsideANodeIsFasterThanOneAcross)
{
    Json plan = base("megatron-lm");
    plan["gpus"] = 16;
    plan["layout"] = {{"tp", 8}, {"cp", 1}, {"pp", 1}, {"dp", 2}, {"order", {"tp", "cp", "dp", "pp"}}};
    const Prediction inside = with(plan, {});
    plan["layout"]["order"] = {"dp", "tp", "cp", "pp"};
    const Prediction across = with(plan, {});
    EXPECT_GT(across.time_by_part[Part::tp], 1.5 * inside.time_by_part[Part::tp]);
}

TEST(Precision, Fp8IsFasterThanBf16AndBf16ThanFp32)
{
    Json plan = base("generic");
    const double fp8 = *with(plan, {{"/training/precision", "fp8"}}).step_time_s;
    const double bf16 = *with(plan, {}).step_time_s;
    const double fp32 = *with(plan, {{"/training/precision", "fp32"}}).step_time_s;
    EXPECT_LT(fp8, bf16);
    EXPECT_LT(bf16, fp32);
}

} // namespace
} // namespace fourfold::test
