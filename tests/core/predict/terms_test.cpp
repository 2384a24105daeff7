// SPDX-License-Identifier: GPL-3.0-or-later
// Terms that one setting turns on: power limit, attention kernel, run-time switches, offload, optimizer kind, experts.
#include "core/cost/prices.h"
#include "core/cost/runtime_switches.h"
#include "core/predict/prediction.h"
#include "core/program/expert_imbalance.h"
#include "tests/core/predict/random_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace fourfold::test {
namespace {

Json plan_json(const char* cluster, Json training = Json::object(), const char* model = "llama-3.1-8b", int gpus = 8)
{
    return {{"model", model}, {"cluster", cluster}, {"gpus", gpus}, {"stack", "generic"}, {"layout", {{"dp", gpus}}},
        {"training", std::move(training)}};
}

CostContext context_of(const char* cluster, const char* attention = "flash2")
{
    return CostContext(resolved(plan_json(cluster, {{"attention", attention}})));
}

double attention_share_of_peak(const CostContext& context)
{
    const Attention op{.queries = 8192, .keys = 8192, .head_dim = 128, .batch = 32, .causal = true};
    return flops(op, Phase::forward) / price_attention(op, Phase::forward, context).seconds / context.peak_flops;
}

TEST(Device, APowerLimitSlowsProductsInProportion)
{
    const CostContext limited = context_of("grand-teton-h100"), full = context_of("dgx-h100");
    EXPECT_NEAR(limited.peak_flops / full.peak_flops, 500.0 / 700.0, 1e-9);
}

TEST(Device, AnA100KeepsItsClockAndFasterMultiprocessorsDoNot)
{
    EXPECT_NEAR(context_of("dgx-a100").clock_share, 1, 1e-3);
    EXPECT_NEAR(context_of("dgx-h100").clock_share, 0.83, 1e-2);
}

// Boards of one chip differ in power: 1,200 and 1,400 W for the same peak.
TEST(Device, ABoardsPowerSetsTheClockOfItsProducts)
{
    const double less = context_of("gb200-nvl72").clock_share, more = context_of("gb300-nvl72").clock_share;
    EXPECT_NEAR(more / less, 1400.0 / 1200.0, 1e-9);
    EXPECT_GT(context_of("dgx-b200").clock_share, 0.5);
    Json plan = plan_json("gb300-nvl72", {});
    ResolvedPlan unlimited = resolved(plan);
    unlimited.cluster.gpu.power_w = 5000;
    EXPECT_EQ(CostContext(unlimited).clock_share, 1) << "no faster than the peak";
}

// Blackwell Ultra has twice as many exponentials a clock and the same matrix rate: what the softmax takes is halved.
TEST(Device, ExponentialsLimitAttentionOnWideMatrixUnits)
{
    const CostContext blackwell = context_of("gb200-nvl72", "cudnn"), ultra = context_of("gb300-nvl72", "cudnn");
    ASSERT_EQ(blackwell.peak_flops, ultra.peak_flops);
    const double gain = attention_share_of_peak(ultra) / attention_share_of_peak(blackwell);
    EXPECT_GT(gain, 1.15);
    EXPECT_LT(gain, 2) << "as the products take time, too";
}

// Dao, FlashAttention-2 (arXiv:2307.08691), section 4.1: up to 73 % of an A100's peak forward, causal about 60 to 70 %;
// FlashAttention-3 (arXiv:2407.08608), introduction: FlashAttention-2 reaches only 35 % of an H100, version 3 up to 75
// %.
TEST(Device, AttentionKernelsKeepToTheirPapersShares)
{
    EXPECT_NEAR(attention_share_of_peak(context_of("dgx-a100")), 0.66, 0.07);
    EXPECT_NEAR(attention_share_of_peak(context_of("dgx-h100")), 0.38, 0.05);
    // FlashAttention-2's abstract: around twice as fast as the first.
    EXPECT_NEAR(
        attention_share_of_peak(context_of("dgx-a100")) / attention_share_of_peak(context_of("dgx-a100", "flash1")), 2,
        0.6);
    const double newer = attention_share_of_peak(context_of("dgx-h100", "flash3"));
    EXPECT_GT(newer, 0.5);
    EXPECT_LT(newer, 0.75);
    // Ampere's instructions gain nothing from Blackwell's wider matrix units.
    EXPECT_NEAR(attention_share_of_peak(context_of("dgx-b200")) * 2250 / 148,
        attention_share_of_peak(context_of("dgx-h100")) * 989 / 132, 0.3);
}

TEST(RuntimeSwitches, BlockingLaunchesHideNothing)
{
    Json plan = plan_json("dgx-h100", {{"sharding", "parameters"}, {"micro_batch", 1}, {"global_batch", 8}});
    const Prediction usual = predict(resolved(plan));
    plan["run"]["environment"] = {{"CUDA_LAUNCH_BLOCKING", "1"}};
    const Prediction blocking = predict(resolved(plan));
    EXPECT_GT(usual.time_hidden[Part::dp], 0);
    EXPECT_EQ(blocking.time_hidden[Part::dp], 0);
    EXPECT_GT(*blocking.step_time_s, *usual.step_time_s);
}

// What the trainer does instead takes several times as long: it is said beside the price.
TEST(AttentionKernels, ThatTheTrainerDoesNotHaveOnGpusAreSaid)
{
    const auto says
        = [](Json training, const char* model, const char* cluster = "dgx-h100", const char* stack = "fourfold") {
              Json plan = plan_json(cluster, std::move(training), model);
              plan["stack"] = stack;
              const auto warnings = predict(resolved(plan)).warnings;
              return std::ranges::any_of(warnings,
                  [](const std::string& warning) { return warning.find("block by block") != std::string::npos; });
          };
    const Json one{{"micro_batch", 1}, {"global_batch", 8}};
    const auto with = [&](const char* key, const char* value) {
        Json more = one;
        more[key] = value;
        return more;
    };
    EXPECT_FALSE(says(one, "llama-3.1-8b"));
    EXPECT_TRUE(says(with("precision", "fp32"), "llama-3.1-8b"));
    EXPECT_TRUE(says(one, "bloom-176b"));
    EXPECT_FALSE(says(with("attention", "unfused"), "bloom-176b")) << "asked for, and counted";
    EXPECT_FALSE(says(one, "bloom-176b", "dgx-h100", "megatron-lm"));
    EXPECT_TRUE(says(one, "gpt-oss-20b"));
}

TEST(RuntimeSwitches, ExpandableSegmentsLeaveLittleFragmentation)
{
    Json plan = plan_json("dgx-h100", {{"micro_batch", 1}, {"global_batch", 8}});
    const double usual = *predict(resolved(plan)).memory_device_gib;
    plan["run"]["environment"] = {{"PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"}};
    const double less = *predict(resolved(plan)).memory_device_gib;
    EXPECT_LT(less, usual);
    EXPECT_GT(less, usual * 0.9);
}

TEST(RuntimeSwitches, SettingsOfTheAllocatorAreReadOneByOne)
{
    using Strings = std::vector<std::string>;
    const auto switches = [](const char* name, const char* value) { return runtime_switches({{name, value}}); };
    EXPECT_TRUE(switches("PYTORCH_ALLOC_CONF", "expandable_segments:True").expandable_segments);
    const auto both = switches("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:512, expandable_segments:True");
    EXPECT_TRUE(both.expandable_segments);
    EXPECT_EQ(both.not_modelled, Strings{"PYTORCH_CUDA_ALLOC_CONF"}) << "the size above which nothing is split";
    const auto off = switches("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:False");
    EXPECT_FALSE(off.expandable_segments);
    EXPECT_EQ(off.not_modelled, Strings{});
}

TEST(RuntimeSwitches, WhatIsLeftOutIsNamed)
{
    Json plan = plan_json("dgx-h100", {{"micro_batch", 1}, {"global_batch", 8}});
    plan["run"]["environment"]
        = {{"NCCL_ALGO", "Tree"}, {"TORCH_NCCL_AVOID_RECORD_STREAMS", "1"}, {"NCCL_DEBUG", "INFO"}, {"HOME", "/"}};
    const auto warnings = predict(resolved(plan)).warnings;
    EXPECT_THAT(warnings, testing::Contains(testing::HasSubstr("NCCL_ALGO")));
    EXPECT_THAT(warnings, testing::Contains(testing::HasSubstr("AVOID_RECORD_STREAMS")));
    EXPECT_THAT(warnings, testing::Not(testing::Contains(testing::HasSubstr("NCCL_DEBUG"))));
    EXPECT_THAT(warnings, testing::Not(testing::Contains(testing::HasSubstr("environment.HOME"))));
}

TEST(Offload, CostsTimeAndSavesMemory)
{
    const auto with = [](const char* what) {
        return predict(resolved(
            plan_json("dgx-h100", {{"offload", what}, {"micro_batch", 1}, {"global_batch", 8}, {"sharding", "none"}})));
    };
    const Prediction none = with("none"), activations = with("activations"), states = with("optimizer");
    EXPECT_LT(*activations.memory_gib, *none.memory_gib);
    EXPECT_GT(*activations.step_time_s, *none.step_time_s);
    EXPECT_LT(*states.memory_gib, *none.memory_gib);
    // 8.03e9 parameters: fp32 gradients out and bf16 weights back at 25 GB/s, and the update on the host.
    EXPECT_GT(states.time_by_part[Part::optimizer], 8.03 * 6 / 25);
}

// The BLOOM team's 200B model on 16 nodes (TP 8, PP 16): 61 GB on the stage of the embedding and 47 elsewhere with
// torch.optim.Adam, 51 and 44 with Apex's FusedAdam.
TEST(OptimizerKinds, TheBloomTeamsMemoryOfAdamAndFusedAdam)
{
    ResolvedPlan plan = example("bloom-200b-jean-zay-320");
    const auto memory = [&](const char* optimizer) {
        Json document = to_json(plan, PresetStyle::ids);
        document["gpus"] = 128;
        document["layout"] = {{"tp", 8}, {"pp", 16}, {"dp", 1}};
        document["training"]["optimizer"] = optimizer;
        document["training"]["global_batch"] = 512;
        document["training"].erase("micro_batches");
        return predict(resolved(document)).memory_by_stage;
    };
    const auto fused = memory("fused-adam"), plain = memory("adam");
    ASSERT_EQ(fused.size(), 16U);
    EXPECT_NEAR(plain[0].total() - fused[0].total(), 10, 1.5) << "61 - 51";
    EXPECT_NEAR(plain[8].total() - fused[8].total(), 3, 1) << "47 - 44";
    EXPECT_NEAR(fused[0].total(), 51, 51 * 0.12);
    EXPECT_NEAR(fused[8].total(), 44, 44 * 0.12);
}

TEST(Experts, TheBusiestRankSetsThePace)
{
    Json plan = plan_json("dgx-h100", {{"micro_batch", 1}, {"global_batch", 8}}, "mixtral-8x7b");
    plan["layout"]["ep"] = 8;
    ResolvedPlan balanced = resolved(plan), skewed = balanced;
    balanced.stack.constants["expert_imbalance"] = 0;
    skewed.stack.constants["expert_imbalance"] = 0.5;
    const auto expert_flops = [](const ResolvedPlan& p) {
        const auto program = build_program(p);
        double sum = 0;
        for (const Operation& op : program[0].chunks[0].operations)
            sum += op.name.starts_with("experts") ? op.flops() : 0;
        return sum;
    };
    EXPECT_NEAR(expert_flops(skewed), 1.5 * expert_flops(balanced), 1e-6 * expert_flops(skewed));
}

// The quantiles of the exponential distribution, found by halving on its own integral.
TEST(Experts, UnevenRoutingIsADistributionWithTheStacksMean)
{
    Json json = plan_json("dgx-h100", {{"micro_batch", 1}, {"global_batch", 8}}, "mixtral-8x7b");
    json["layout"]["ep"] = 8;
    ResolvedPlan plan = resolved(json);
    plan.stack.constants["expert_imbalance"] = 0.2;
    plan.stack.gpu_constants.clear();
    for (const double quantile : {0.05, 0.5, 0.95}) {
        double low = 0, high = 10;
        for (int i = 0; i < 60; ++i) {
            const double middle = (low + high) / 2;
            constexpr int kParts = 2000;
            double below = 0; // trapezoids of the density
            for (int part = 0; part < kParts; ++part) {
                const auto density = [&](int at) { return std::exp(-middle * at / kParts / 0.2) / 0.2; };
                below += middle / kParts * (density(part) + density(part + 1)) / 2;
            }
            (below < quantile ? low : high) = middle;
        }
        EXPECT_NEAR(expert_imbalance_at(plan, quantile), low, 1e-4) << quantile;
    }
    EXPECT_NEAR(expert_imbalance_at(plan, 1 - 1e-300), 7, 1e-12) << "one of 8 ranks gets all tokens";
    plan.training.experts.capacity = 1.25;
    EXPECT_EQ(expert_imbalance_at(plan, 0.95), 0.25) << "what is beyond its places is dropped";
    plan.training.experts.capacity = 0;
    plan.layout.ep = 1;
    EXPECT_EQ(expert_imbalance_at(plan, 0.95), 0);
}

TEST(Experts, UnevenRoutingWidensTimeAndMemory)
{
    Json json = plan_json("dgx-h100", {{"micro_batch", 1}, {"global_batch", 8}}, "mixtral-8x7b");
    json["layout"]["ep"] = 8;
    json["training"]["sharding"] = "parameters";
    ResolvedPlan plan = resolved(json);
    plan.stack.constants["expert_imbalance"] = 0.2;
    plan.stack.gpu_constants.clear();
    const auto with = [&](double imbalance) { return predict(with_expert_imbalance(plan, imbalance)); };
    const Prediction even = with(0), usual = with(0.2), rare = with(expert_imbalance_at(plan, 0.95));
    ASSERT_TRUE(even.interval && usual.interval && rare.step_time_s && rare.memory_gib);
    const auto beyond = [](const Range& range, double value) { return std::log(range.high / value); };
    const double time = beyond(even.interval->step_time_s, *even.step_time_s),
                 memory = beyond(even.interval->memory_gib, *even.memory_gib);
    EXPECT_NEAR(beyond(usual.interval->step_time_s, *usual.step_time_s),
        std::hypot(time, std::log(*rare.step_time_s / *usual.step_time_s)), 1e-9);
    EXPECT_NEAR(beyond(usual.interval->memory_gib, *usual.memory_gib),
        std::hypot(memory, std::log(*rare.memory_gib / *usual.memory_gib)), 1e-9);
    EXPECT_GT(*rare.memory_gib, *usual.memory_gib);
    EXPECT_LT(usual.interval->memory_gib.low, *usual.memory_gib * std::exp(-memory)) << "and the quiet side";
    // Between what the usual and what the rare routing needs.
    plan.cluster.gpu.memory_gib = (*usual.memory_device_gib + *rare.memory_device_gib) / 2;
    EXPECT_THAT(with(0.2).warnings, ::testing::Contains(::testing::HasSubstr("uneven routing: where the busiest")));
    EXPECT_THAT(with(0).warnings, ::testing::Not(::testing::Contains(::testing::HasSubstr("uneven routing"))));
}

// With 8 stages and the pipeline inside of data parallelism, the 8 ranks of an expert group would lie on 8 nodes.
TEST(Experts, RanksThatExchangeTokensLieBesideEachOther)
{
    using enum Dimension;
    Json plan = plan_json("dgx-h100", {{"micro_batch", 1}, {"micro_batches", 16}}, "mixtral-8x7b", 64);
    plan["layout"] = {{"pp", 8}, {"dp", 8}, {"ep", 8}};
    const ResolvedPlan usual = resolved(plan);
    EXPECT_EQ(usual.layout.order, (std::array{tp, cp, dp, pp}));
    EXPECT_EQ(CostContext(usual).span(GroupKind::ep).nodes, 1);
    plan["layout"]["order"] = {"tp", "cp", "pp", "dp"};
    const ResolvedPlan apart = resolved(plan);
    EXPECT_EQ(CostContext(apart).span(GroupKind::ep).nodes, 8) << "who writes an order gets it";
    EXPECT_GT(predict(apart).time_by_part[Part::ep], 2 * predict(usual).time_by_part[Part::ep]);
    EXPECT_EQ(resolved(plan_json("dgx-h100")).layout.order, (std::array{tp, cp, pp, dp})) << "no experts";
}

// The host's time is a floor: it shows where micro-batches are small and hides where they are large.
TEST(Experts, TheHostPacesSmallMicroBatches)
{
    const auto per_micro_batch = [](int micro_batch, double floor) {
        ResolvedPlan plan = resolved(plan_json(
            "dgx-h100", {{"micro_batch", micro_batch}, {"global_batch", 32}, {"seq_len", 256}}, "mixtral-8x7b"));
        plan.stack.constants["layer_floor_expert_s"] = floor;
        return *predict(plan).step_time_s * micro_batch * plan.layout.dp / 32;
    };
    constexpr double kFloor = 0.02; // of a layer, there and back
    EXPECT_GT(per_micro_batch(1, kFloor), 32 * kFloor);
    EXPECT_GT(per_micro_batch(1, kFloor), per_micro_batch(1, 0) + 16 * kFloor);
    Json dense = plan_json("dgx-h100", {{"micro_batch", 1}, {"global_batch", 8}}, "llama-3.1-8b");
    ResolvedPlan without = resolved(dense), with = without;
    with.stack.constants["layer_floor_expert_s"] = kFloor;
    EXPECT_EQ(*predict(without).step_time_s, *predict(with).step_time_s) << "no experts";
}

TEST(Experts, ProductsOfExpertsKeepAShareOfTheGainOfFp8)
{
    const auto seconds = [](double share) {
        ResolvedPlan plan = resolved(plan_json("dgx-h100",
            {{"micro_batch", 4}, {"global_batch", 64}, {"precision", "fp8"}, {"sharding", "parameters"}},
            "mixtral-8x7b"));
        plan.stack.constants["expert_fp8_share"] = share;
        const CostContext context(plan);
        const auto program = build_program(plan);
        double sum = 0;
        for (const Operation& op : program[0].chunks[0].operations)
            sum += op.name.starts_with("experts") && op.is<Gemm>() ? price(op, context).seconds : 0;
        return sum;
    };
    const Constants generic = CostContext(resolved(plan_json("dgx-h100", {}))).constants;
    ASSERT_GT(seconds(1), 0);
    EXPECT_NEAR(seconds(0) / seconds(1), generic[Constant::fp8_gain], 0.1);
    EXPECT_GT(seconds(0.5), seconds(1) * 1.1);
}

// Between virtual stages a hop goes on beside the work of other chunks where the software sends so.
TEST(Pipeline, HopsOfVirtualStagesHideWhereTheSoftwareSendsBesideWork)
{
    const auto exposed = [](int virtual_stages, double scale) {
        Json plan = plan_json("dgx-h100",
            {{"micro_batch", 1}, {"global_batch", 64}, {"schedule", virtual_stages > 1 ? "interleaved" : "1f1b"}},
            "llama-3.1-70b", 32);
        plan["layout"] = {{"tp", 8}, {"pp", 4}, {"dp", 1}, {"virtual_stages", virtual_stages}};
        ResolvedPlan placed = resolved(plan);
        placed.stack.constants["interleaved_transfer_scale"] = scale;
        return predict(placed).time_by_part[Part::pp];
    };
    EXPECT_GT(exposed(4, 1), 0);
    EXPECT_EQ(exposed(4, 0), 0);
    EXPECT_GT(exposed(1, 0), 0) << "whole stages wait";
}

TEST(Stragglers, TheSlowestOfManyGrowsWithTheLogarithm)
{
    const auto slowdown = [](int gpus) {
        ResolvedPlan plan
            = resolved(plan_json("dgx-h100", {{"micro_batch", 1}, {"global_batch", gpus}}, "llama-3.1-8b", gpus));
        plan.stack.constants["straggler_spread"] = 0;
        const double without = *predict(plan).step_time_s;
        plan.stack.constants["straggler_spread"] = 0.01;
        return (*predict(plan).step_time_s - without) / predict(plan).time_by_part[Part::compute];
    };
    EXPECT_NEAR(slowdown(1024) / slowdown(32), std::sqrt(std::log(1024.0) / std::log(32.0)), 0.1);
}

TEST(Pressure, BeginsNearTheCapacity)
{
    ResolvedPlan plan
        = resolved(plan_json("dgx-h100", {{"micro_batch", 1}, {"global_batch", 8}, {"sharding", "parameters"}}));
    const Prediction p = predict(plan);
    const auto time = [&](double share, double pressure) {
        plan.cluster.gpu.memory_gib = *p.memory_device_gib / share;
        plan.stack.constants["allocator_pressure"] = pressure;
        return *predict(plan).step_time_s;
    };
    EXPECT_EQ(time(0.9, 0.1), time(0.9, 0));
    EXPECT_GT(time(0.99, 0.1), time(0.99, 0) * 1.05);
}

} // namespace
} // namespace fourfold::test
