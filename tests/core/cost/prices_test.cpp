// SPDX-License-Identifier: GPL-3.0-or-later
// Every price against arithmetic done by hand.
#include "core/cost/passes.h"
#include "core/cost/prices.h"
#include "core/plan/presets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace fourfold {
namespace {

// A round machine: 100 TFLOP/s, 1000 GB/s memory, 100 GB/s inside a node of 8, 10 GB/s per GPU between nodes.
ResolvedPlan round_plan(int tp = 1, int dp = 1)
{
    ResolvedPlan plan;
    plan.model.layers = 1;
    plan.model.hidden = 1024;
    plan.model.heads = plan.model.kv_heads = 8;
    plan.model.head_dim = 128;
    plan.model.ffn = 4096;
    plan.model.vocab = 1000;
    plan.cluster.gpu.id = "round";
    plan.cluster.gpu.bf16_tflops = 100;
    plan.cluster.gpu.fp8_tflops = 200;
    plan.cluster.gpu.memory_bandwidth_gb_s = 1000;
    plan.cluster.gpu.multiprocessors = 100;
    plan.cluster.gpu.memory_gib = 80;
    plan.cluster.gpus_per_node = 8;
    plan.cluster.intra_node = {100, 0, IntraTopology::nvswitch, 0, 0, {}};
    plan.cluster.inter_node = {10, 0, 8, 0, 0, 1};
    plan.layout.tp = tp;
    plan.layout.dp = dp;
    plan.layout.stage_layers = {1};
    plan.gpus = tp * dp;
    plan.training.seq_len = 1024;
    plan.training.micro_batches = 4;
    plan.padded_vocab = 1024;
    return plan;
}

CostContext context_with(std::initializer_list<std::pair<Constant, double>> values, int tp = 1, int dp = 1)
{
    CostContext context(round_plan(tp, dp), true);
    context.multiprocessor_ratio = context.balance_ratio = context.clock_share
        = 1; // as on an H100 that keeps its clock
    for (const auto& [id, value] : values)
        context.constants.set(id, value);
    return context;
}

Gemm gemm(double m, double n, double k, double batch = 1)
{
    return {.m = m, .n = n, .k = k, .batch = batch};
}

// A large product in bf16 over the same in `precision`, on a GPU of twice bf16's peak in fp8 and six times in fp4.
double narrow_gain(Precision precision, double fp8_gain)
{
    ResolvedPlan plan = round_plan();
    plan.training.precision = precision;
    plan.cluster.gpu.fp4_tflops = 600;
    plan.stack.constants["gemm_half_k"] = 0;
    CostContext context(plan);
    context.constants.set(Constant::fp8_gain, fp8_gain); // as a fit does
    Gemm product = gemm(12800, 25600, 8192);
    const double bf16 = price_gemm(product, context).seconds;
    product.narrow = true;
    return bf16 / price_gemm(product, context).seconds;
}

TEST(GemmPrice, TilesAndWaves)
{
    // 100 tiles of 128 x 256 on 100 multiprocessors: one full wave.
    EXPECT_NEAR(tile_and_wave_utilisation(1280, 2560, 1, 100), 1.0, 1e-12);
    // One tile more needs a second wave that is nearly empty.
    EXPECT_LT(tile_and_wave_utilisation(1280, 2561, 1, 100), 0.95);
    // 64 x 128 fits its own tile, which works at 0.80, and fills 1 of 100.
    EXPECT_NEAR(tile_and_wave_utilisation(64, 128, 1, 100), 0.80 / 100, 1e-12);
    // A batch fills what one product leaves empty.
    EXPECT_NEAR(tile_and_wave_utilisation(128, 256, 100, 100), 1.0, 1e-12);
    EXPECT_EQ(tile_and_wave_utilisation(7, 7, 1, 0), 1.0) << "no multiprocessors, no quantization";
}

TEST(GemmPrice, ComputeBound)
{
    const auto context = context_with({{Constant::gemm_efficiency, 0.5}, {Constant::gemm_half_k, 1000}});
    // 2 * 1280 * 2560 * 1000 = 6.5536 GFLOP; 100 TFLOP/s * 0.5 * 1 * 1000 / 2000 = 25 TFLOP/s.
    const Price price = price_gemm(gemm(1280, 2560, 1000), context);
    EXPECT_NEAR(price.seconds, 6.5536e9 / 25e12, 1e-12);
    EXPECT_THAT(price.formula, testing::HasSubstr("2 * 1280 * 2560 * 1000"));
}

TEST(GemmPrice, MemoryBound)
{
    const auto context = context_with({{Constant::stream_efficiency, 0.5}, {Constant::gemm_half_k, 0}});
    // One row times a large matrix: 2 (k + n k + n) bytes over 500 GB/s.
    const Price price = price_gemm(gemm(1, 10000, 10000), context);
    EXPECT_NEAR(price.seconds, 2 * (1e4 + 1e8 + 1e4) / 500e9, 1e-9);
    EXPECT_THAT(price.formula, testing::HasSubstr("memory bound"));
}

TEST(GemmPrice, Fp8GainIsAtMostTheDataSheets)
{
    EXPECT_NEAR(narrow_gain(Precision::fp8, 5), 2, 1e-9);
    EXPECT_NEAR(narrow_gain(Precision::fp8, 1.5), 1.5, 1e-9);
}

TEST(GemmPrice, Nvfp4KeepsOfItsPeakWhatFp8Keeps)
{
    EXPECT_NEAR(narrow_gain(Precision::nvfp4, 2), 6, 1e-9);
    EXPECT_NEAR(narrow_gain(Precision::nvfp4, 1.5), 1 + 0.5 * 5, 1e-9);
    EXPECT_NEAR(narrow_gain(Precision::nvfp4, 5), 6, 1e-9);
}

TEST(GemmPrice, NeverShorterThanAKernel)
{
    const auto context = context_with({{Constant::kernel_floor_s, 5e-6}});
    EXPECT_EQ(price_gemm(gemm(1, 1, 1), context).seconds, 5e-6);
}

TEST(GemmPrice, Fp32OperandsAreTwiceAsLarge)
{
    ResolvedPlan plan = round_plan();
    plan.cluster.gpu.fp32_tflops = 100;
    const auto seconds = [&](Precision precision) {
        plan.training.precision = precision;
        CostContext context(plan);
        context.constants.set(Constant::stream_efficiency, 0.5);
        return price_gemm(gemm(1, 10000, 10000), context).seconds;
    };
    const double half = seconds(Precision::bf16);
    EXPECT_NEAR(seconds(Precision::fp32), 2 * half, half * 1e-9);
}

TEST(ThisComputer, ShortOperationsStayOnOneCore)
{
    ResolvedPlan plan = round_plan();
    CostContext context(plan, true);
    context.constants.set(Constant::stream_efficiency, 0.5);
    const auto of = [&](double megabytes) {
        return price(Operation{.name = "pass", .work = Elementwise{.bytes = megabytes * 1e6}}, context);
    };
    const double small = of(0.01).seconds, large = of(1000).seconds;
    context.core_speedup = 2;
    context.constants.set(Constant::thread_start_s, 15e-6);
    ASSERT_LT(small, 30e-6);
    EXPECT_EQ(of(0.01).seconds, small);
    EXPECT_NEAR(of(1000).seconds, large / 2 + 15e-6, 1e-12);
    EXPECT_THAT(of(1000).formula, testing::HasSubstr("thread_start_s"));
    const Operation message{.name = "message", .work = HostCost{.constant = Constant::one, .times = 1}};
    EXPECT_EQ(price(message, context).seconds, 1) << "what the host does is no work of its cores together";
}

TEST(ThisComputer, RanksShareItsCores)
{
    ResolvedPlan plan = round_plan();
    plan.cluster.id = "this-computer";
    plan.cluster.gpu.id = "cpu";
    plan.gpus = 4;
    EXPECT_EQ(core_share(plan, 0.9, 2), 2) << "four ranks on two cores take twice as long";
    EXPECT_EQ(core_share(plan, 0.9, 4), 1);
    EXPECT_NEAR(core_share(plan, 0.5, 16), 0.5, 1e-12) << "four cores each";
    EXPECT_NEAR(core_share(plan, 0.5, 1024), 0.5, 1e-12) << "more cores do not help a small model";
    EXPECT_EQ(core_share(plan, 0.9, 0), 1) << "unknown";
    plan.cluster.id = "elsewhere";
    EXPECT_EQ(core_share(plan, 0.9, 2), 1);
}

Attention attention(double head_dim, bool fused)
{
    return {.queries = 1000,
        .keys = 1000,
        .head_dim = head_dim,
        .batch = 10,
        .score_bytes = 10 * 1000 * 1000 * 2.0,
        .causal = fused,
        .fused = fused};
}

double attention_seconds(const Attention& attention, const CostContext& context, Phase phase = Phase::forward)
{
    return price_attention(attention, phase, context).seconds;
}

TEST(AttentionPrice, FusedCausal)
{
    const auto context = context_with({{Constant::attention_efficiency, 0.5},
        {Constant::attention_backward_efficiency, 0.8}, {Constant::attention_half_head_dim, 32}});
    // Half of 4 * 1000^2 * 128 * 10 FLOPs at 50 TFLOP/s; the backward has 2.5 times the work at 0.8 of the rate.
    const double forward = 0.5 * 4 * 1e6 * 128 * 10 / 50e12;
    EXPECT_NEAR(attention_seconds(attention(128, true), context), forward, 1e-12);
    EXPECT_NEAR(attention_seconds(attention(128, true), context, Phase::backward), forward * 2.5 / 0.8, 1e-12);
    // Head size 32 runs at 32/64 over 128/160 of the rate.
    EXPECT_NEAR(attention_seconds(attention(32, true), context), forward / 4 / (0.5 / 0.8), 1e-12);
}

TEST(AttentionPrice, RingBlocksCost)
{
    const auto context = context_with({{Constant::attention_context_loss, 0.4}});
    Attention op = attention(128, true);
    const double whole = attention_seconds(op, context);
    op.blocks = 4;
    EXPECT_NEAR(attention_seconds(op, context), whole * 1.3, whole * 1e-9);
}

TEST(AttentionPrice, ScoresInMemoryWithTheHeadSizeRules)
{
    const auto context = context_with({{Constant::batched_gemm_efficiency, 0.4},
        {Constant::batched_gemm_half_head_dim, 40}, {Constant::unaligned_head_efficiency, 0.01},
        {Constant::head_dim_128_efficiency, 0.05}, {Constant::softmax_passes, 6}, {Constant::stream_efficiency, 1}});
    const double passes = 6 * 2e7 / 1e12;
    const auto products = [](double head_dim) { return 4 * 1e6 * head_dim * 10; };
    EXPECT_NEAR(
        attention_seconds(attention(160, false), context), products(160) / (100e12 * 0.4 * 0.8) + passes, 1e-12);
    EXPECT_NEAR(attention_seconds(attention(150, false), context), products(150) / (100e12 * 0.01) + passes, 1e-12);
    EXPECT_NEAR(attention_seconds(attention(128, false), context), products(128) / (100e12 * 0.05) + passes, 1e-12);
    EXPECT_NEAR(attention_seconds(attention(160, false), context, Phase::backward),
        2 * products(160) / (100e12 * 0.4 * 0.8) + 1.5 * passes, 1e-12);
}

TEST(ElementwisePrice, BytesOverBandwidth)
{
    const auto context = context_with({{Constant::elementwise_efficiency, 0.25}});
    const Elementwise op{.bytes = 1e9, .efficiency = Constant::elementwise_efficiency};
    EXPECT_NEAR(price_elementwise(op, context).seconds, 1e9 / 250e9, 1e-12);
}

TEST(OptimizerPrice, BytesOverBandwidth)
{
    const auto context = context_with({{Constant::optimizer_efficiency, 0.5}});
    const Operation op{.work = OptimizerUpdate{.bytes = 34e9}};
    EXPECT_NEAR(price(op, context).seconds, 34e9 / 500e9, 1e-9);
}

Collective collective(CollectiveKind kind, GroupKind group, double bytes)
{
    return {.kind = kind, .group = group, .bytes = bytes, .latency = Constant::zero};
}

TEST(CollectivePrice, InsideANode)
{
    const auto context = context_with({{Constant::intra_node_efficiency, 0.5}}, 4);
    // 3/4 of 1 GB over 50 GB/s; an all-reduce goes round twice.
    EXPECT_NEAR(
        price_collective(collective(Collective::all_gather, GroupKind::tp, 1e9), context).seconds, 0.75 / 50, 1e-12);
    EXPECT_NEAR(price_collective(collective(Collective::reduce_scatter, GroupKind::tp, 1e9), context).seconds,
        0.75 / 50, 1e-12);
    EXPECT_NEAR(
        price_collective(collective(Collective::all_reduce, GroupKind::tp, 1e9), context).seconds, 1.5 / 50, 1e-12);
    EXPECT_EQ(price_collective(collective(Collective::all_gather, GroupKind::dp, 1e9), context).seconds, 0.0)
        << "one rank";
}

TEST(CollectivePrice, BetweenNodesTheRanksOfANodeShareTheirNics)
{
    // 32 ranks on 4 nodes, 8 on each: 8 * 10 GB/s out of the node, less than the 100 GB/s inside.
    const auto wide = context_with({{Constant::intra_node_efficiency, 1}, {Constant::inter_node_efficiency, 1}}, 1, 32);
    EXPECT_NEAR(
        price_collective(collective(Collective::all_gather, GroupKind::dp, 1e9), wide).seconds, 31.0 / 32 / 80, 1e-12);
    // TP 8 x DP 4: each DP group has one rank a node, hence one GPU's share of the NICs.
    const auto narrow
        = context_with({{Constant::intra_node_efficiency, 1}, {Constant::inter_node_efficiency, 1}}, 8, 4);
    EXPECT_NEAR(
        price_collective(collective(Collective::all_gather, GroupKind::dp, 1e9), narrow).seconds, 0.75 / 10, 1e-12);
    // The rate falls with the number of nodes where a stack says so.
    const auto decaying = context_with(
        {{Constant::intra_node_efficiency, 1}, {Constant::inter_node_efficiency, 1}, {Constant::inter_node_decay, 0.5}},
        8, 4);
    EXPECT_NEAR(
        price_collective(collective(Collective::all_gather, GroupKind::dp, 1e9), decaying).seconds, 0.75 / 5, 1e-12);
}

// Kempner CS2281, lecture 8: all-gather alpha log p + p N / beta with alpha 1e-6 s, beta 50 GB/s between nodes.
TEST(CollectivePrice, LectureAllGather)
{
    ResolvedPlan plan = round_plan(8, 64);
    plan.cluster.inter_node = {50, 1, 8, 0, 0, 1};
    CostContext context(plan);
    context.constants.set(Constant::inter_node_efficiency, 1);
    context.constants.set(Constant::intra_node_efficiency, 1);
    const double message = 1e6, ranks = 64;
    const double seconds
        = price_collective(collective(Collective::all_gather, GroupKind::dp, ranks * message), context).seconds;
    EXPECT_NEAR(seconds, 1e-6 * std::log2(64.0) + ranks * message / 50e9, seconds * 0.02);
}

TEST(CollectivePrice, WithoutASwitchARankReachesEachPeerByItsPairOfLinks)
{
    ResolvedPlan plan = round_plan(2);
    plan.cluster.intra_node = {450, 0, IntraTopology::pairs, 150, 0, {}};
    const auto seconds = [&](int tp) {
        plan.layout.tp = plan.gpus = tp;
        CostContext context(plan);
        context.constants.set(Constant::intra_node_efficiency, 1);
        return price_collective(collective(Collective::all_gather, GroupKind::tp, 1e9), context).seconds;
    };
    EXPECT_NEAR(seconds(2), 0.5 / 150, 1e-12);
    EXPECT_NEAR(seconds(4), 0.75 / 450, 1e-12);
}

TEST(CollectivePrice, OnlyTheOutgoingPartOfAnAllToAllUsesTheNetwork)
{
    const auto context
        = context_with({{Constant::intra_node_efficiency, 1}, {Constant::inter_node_efficiency, 1}}, 1, 16);
    // 8 of 16 ranks are on the other node: half of 1 GB over the GPU's own 10 GB/s.
    EXPECT_NEAR(
        price_collective(collective(Collective::all_to_all, GroupKind::dp, 1e9), context).seconds, 0.5 / 10, 1e-12);
}

// A small all-reduce over many nodes goes as a tree, a large one as a ring, whose time is by the bytes.
TEST(CollectivePrice, AllReduceIsARingOrATree)
{
    ResolvedPlan plan = round_plan(1, 512);
    plan.cluster.intra_node = {100, 5, IntraTopology::nvswitch, 0, 2, {}};
    plan.cluster.inter_node = {10, 10, 8, 0, 4, 1};
    CostContext context(plan, true);
    context.constants.set(Constant::inter_node_efficiency, 1);
    context.constants.set(Constant::intra_node_efficiency, 1);
    const double share = 2 * 511.0 / 512 / 80e9;
    const Price small = price_collective(collective(Collective::all_reduce, GroupKind::dp, 1e4), context);
    EXPECT_THAT(small.formula, testing::HasSubstr("tree"));
    // Down and up: chains of 7 hops in the nodes, 6 levels between 64 nodes.
    EXPECT_NEAR(small.seconds, 1e4 * share / 0.92 + 2 * (7 * 2e-6 + 6 * 10e-6), 1e-12);
    const Price large = price_collective(collective(Collective::all_reduce, GroupKind::dp, 1e10), context);
    EXPECT_THAT(large.formula, testing::HasSubstr("ring"));
    // Twice round: 448 hops inside nodes, 64 between them.
    EXPECT_NEAR(large.seconds, 1e10 * share + 2 * (448 * 2e-6 + 64 * 4e-6), 1e-9);
    // Four GPUs of a node: six hops.
    plan.layout.dp = plan.gpus = 4;
    CostContext node(plan);
    EXPECT_NEAR(price_collective(collective(Collective::all_reduce, GroupKind::dp, 0), node).seconds, 6 * 2e-6, 1e-12);
}

TEST(CollectivePrice, AGpuMayReachOnlyAShareOfItsAdapter)
{
    ResolvedPlan plan = round_plan(8, 4);
    const auto seconds = [&](double share) {
        plan.cluster.inter_node.nic_share = share;
        CostContext context(plan);
        return price_collective(collective(Collective::all_gather, GroupKind::dp, 1e9), context).seconds;
    };
    const double whole = seconds(1);
    EXPECT_NEAR(seconds(0.5), 2 * whole, whole * 1e-9);
}

TEST(SendReceivePrice, RingsShareTheNodesMeasuredLimit)
{
    ResolvedPlan plan = round_plan();
    plan.layout = {};
    plan.layout.tp = 4;
    plan.layout.cp = 4;
    plan.gpus = 16;
    plan.layout.order = {Dimension::tp, Dimension::cp, Dimension::dp, Dimension::pp};
    plan.cluster.inter_node = {10, 0, 4, 16, 0, 1};
    const CostContext context(plan);
    const PointToPoint op{.group = GroupKind::cp, .bytes = 1e9, .latency = Constant::zero};
    // CP 4 over two nodes, 2 members on each: 8 / 2 = 4 rings leave the node and share 16 GB/s.
    EXPECT_NEAR(price_send_receive(op, context).seconds, 1.0 / 4, 1e-12);
}

TEST(Price, ScaleAppliesToAnyKind)
{
    auto context = context_with({{Constant::gradient_scale, 1.5}}, 4);
    Operation op{.work = collective(Collective::all_gather, GroupKind::tp, 1e9)};
    const double plain = price(op, context).seconds;
    op.scale = Constant::gradient_scale;
    EXPECT_NEAR(price(op, context).seconds, 1.5 * plain, 1e-12);
    EXPECT_THAT(price(op, context).formula, testing::HasSubstr("gradient_scale"));
}

Operation host(HostRule rule, Constant constant)
{
    return {.part = Part::other, .in_layer = false, .work = HostCost{.rule = rule, .constant = constant}};
}

// One second of a layer at 1 TB/s.
const Operation kSecondOfWork{.work = Elementwise{.bytes = 1e12, .efficiency = Constant::elementwise_efficiency}};

TEST(Passes, HostCostsTakeTheirRule)
{
    const auto context = context_with({{Constant::elementwise_efficiency, 1}, {Constant::micro_batch_overhead_s, 0.25},
        {Constant::wide_replica_slowdown, 0.1}, {Constant::layer_floor_forward_s, 2},
        {Constant::layer_floor_power, 200}});
    ChunkProgram chunk;
    chunk.operations = {kSecondOfWork};
    EXPECT_NEAR(chunk_time(chunk, context).forward.seconds(), 1, 1e-9);
    chunk.operations.push_back(host(HostRule::floor, Constant::layer_floor_forward_s));
    EXPECT_NEAR(chunk_time(chunk, context).forward.seconds(), 2, 1e-6) << "the host needs two seconds to launch it";
    chunk.operations.push_back(host(HostRule::fixed, Constant::micro_batch_overhead_s));
    EXPECT_NEAR(chunk_time(chunk, context).forward.seconds(), 2.25, 1e-6);
    chunk.operations.push_back(host(HostRule::share, Constant::wide_replica_slowdown));
    EXPECT_NEAR(chunk_time(chunk, context).forward.seconds(), 2.25 * 1.1, 1e-6);
    EXPECT_EQ(chunk_time(chunk, context).backward.seconds(), 0.0);
}

TEST(Passes, CommunicationHidesBehindItsWindowOnce)
{
    const auto context = context_with({{Constant::elementwise_efficiency, 1}, {Constant::intra_node_efficiency, 1},
                                          {Constant::fsdp_exposed_floor, 0.1}},
        1, 8);
    ChunkProgram chunk;
    const Operation gather{.part = Part::dp,
        .window = Window::layer,
        .exposed_floor = Constant::fsdp_exposed_floor,
        .work = collective(Collective::all_gather, GroupKind::dp, 8.0 / 7 * 0.6 * 100e9)}; // 0.6 s
    chunk.operations = {kSecondOfWork, gather};
    ChunkTime time = chunk_time(chunk, context);
    const auto dp = static_cast<std::size_t>(Part::dp);
    EXPECT_NEAR(time.forward.hidden[dp], 0.54, 1e-9);
    EXPECT_NEAR(time.forward.exposed[dp], 0.06, 1e-9) << "a tenth never hides";
    chunk.operations.push_back(gather);
    time = chunk_time(chunk, context);
    EXPECT_NEAR(time.forward.hidden[dp], 1.0, 1e-9) << "two gathers want 1.08 s of a window of one second";
    EXPECT_NEAR(time.forward.exposed[dp], 0.2, 1e-9);
}

TEST(Passes, SmoothMaximumLiesAboveBothAndNearTheLarger)
{
    EXPECT_NEAR(smooth_maximum(3, 0, 6), 3, 1e-12);
    EXPECT_NEAR(smooth_maximum(1, 1, 6), std::pow(2.0, 1.0 / 6), 1e-12);
    EXPECT_GT(smooth_maximum(1, 2, 6), 2);
    EXPECT_LT(smooth_maximum(1, 2, 6), 2.01);
    EXPECT_EQ(smooth_maximum(0, 0, 6), 0);
}

} // namespace
} // namespace fourfold
