// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory/replay.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fourfold {
namespace {

// One chunk: 100 bytes of weights always, 10 a micro-batch, 3 while a forward and 7 while a backward runs.
StageProgram stage(int index, int chunks, int pp)
{
    StageProgram program;
    program.stage = index;
    program.allocations = {{MemoryKind::weights, Lifetime::step, 100, "weights", ""}};
    for (int c = 0; c < chunks; ++c) {
        ChunkProgram chunk;
        chunk.chunk = c * pp + index;
        chunk.allocations = {{MemoryKind::activations, Lifetime::micro_batch, 10, "kept", ""},
            {MemoryKind::other, Lifetime::forward, 3, "workspace", ""},
            {MemoryKind::activations, Lifetime::backward, 7, "rebuilt", ""}};
        program.chunks.push_back(chunk);
    }
    return program;
}

TEST(Replay, OneForwardOneBackwardPeaksAtPpMinusStage)
{
    for (int pp : {1, 2, 4, 8}) {
        for (int micro_batches : {1, 2, 5, 40}) {
            const auto actions = make_schedule(Schedule::one_f_one_b, pp, 1, micro_batches).value();
            for (int s = 0; s < pp; ++s) {
                const MemoryPeak peak = replay_memory(stage(s, 1, pp), actions[std::size_t(s)]);
                const int expected = std::min(micro_batches, pp - s);
                EXPECT_EQ(peak.in_flight, expected);
                EXPECT_EQ(peak.total(), 100 + 10 * expected + 7);
                EXPECT_EQ(peak.bytes[static_cast<std::size_t>(MemoryKind::activations)], 10 * expected + 7);
                EXPECT_EQ(peak.bytes[static_cast<std::size_t>(MemoryKind::other)], 0) << "no forward at the peak";
            }
        }
    }
}

TEST(Replay, GpipeKeepsEveryMicroBatch)
{
    const auto actions = make_schedule(Schedule::gpipe, 4, 1, 9).value();
    for (int s = 0; s < 4; ++s)
        EXPECT_EQ(replay_memory(stage(s, 1, 4), actions[std::size_t(s)]).in_flight, 9);
}

TEST(Replay, InterleavingKeepsMoreChunksOfTheFirstStage)
{
    // 2 (pp - 1) + (v - 1) pp warm-up forwards and the one that follows: 2 * 3 + 4 + 1 = 11 chunks of half a stage
    // each.
    const auto actions = make_schedule(Schedule::interleaved, 4, 2, 16).value();
    EXPECT_EQ(replay_memory(stage(0, 2, 4), actions[0]).in_flight, 11);
    EXPECT_EQ(replay_memory(stage(3, 2, 4), actions[3]).in_flight, 5);
}

TEST(Replay, TheForwardsWorkspaceCanBeThePeak)
{
    StageProgram program = stage(0, 1, 1);
    program.chunks[0].allocations[1].bytes = 50;
    const auto actions = make_schedule(Schedule::one_f_one_b, 1, 1, 3).value();
    EXPECT_EQ(replay_memory(program, actions[0]).total(), 160);
    program.allocations.push_back({MemoryKind::other, Lifetime::update, 500, "casts", ""});
    EXPECT_EQ(replay_memory(program, actions[0]).total(), 600) << "the update runs when no micro-batch is alive";
}

// The logits are there between forward and backward; on a stage that recomputes, its layers come after them.
TEST(Replay, TheLossIsAnInstantOfItsOwn)
{
    StageProgram program = stage(0, 1, 1);
    const auto actions = make_schedule(Schedule::one_f_one_b, 1, 1, 2).value();
    EXPECT_EQ(replay_memory(program, actions[0]).instant, Instant::backward);
    program.chunks[0].allocations.push_back({MemoryKind::activations, Lifetime::loss, 20, "logits", ""});
    MemoryPeak peak = replay_memory(program, actions[0]);
    EXPECT_EQ(peak.instant, Instant::loss);
    EXPECT_EQ(peak.total(), 100 + 10 + 20) << "not together with the 7 bytes of the backward";
    const auto instants = replay_instants(program, actions[0]);
    ASSERT_EQ(instants.size(), 5U) << "two forwards, two backwards, the update";
    EXPECT_EQ(instants[1].kind, Instant::loss);
    EXPECT_EQ(instants[1].after[static_cast<std::size_t>(MemoryKind::activations)], 0);
    program.chunks[0].allocations.push_back({MemoryKind::activations, Lifetime::backward, 20, "kept blocks", ""});
    peak = replay_memory(program, actions[0]);
    EXPECT_EQ(peak.instant, Instant::backward) << "where the allocator keeps the logits' blocks";
    EXPECT_EQ(peak.total(), 100 + 10 + 27);
}

// 10 bytes a micro-batch until its input gradient, 4 from there to its weight gradient.
TEST(Replay, OperandsOfWeightGradientsLiveOn)
{
    StageProgram program = stage(0, 1, 4);
    program.chunks[0].allocations.push_back({MemoryKind::activations, Lifetime::weight_gradient, 4, "operands", ""});
    using enum ActionKind;
    const std::vector<Action> parted{{forward, 0, 0}, {input_gradient, 0, 0}, {forward, 1, 0}, {input_gradient, 1, 0},
        {weight_gradient, 0, 0}, {weight_gradient, 1, 0}};
    const MemoryPeak peak = replay_memory(program, parted);
    EXPECT_EQ(peak.in_flight, 2);
    EXPECT_EQ(peak.total(), 100 + 4 + 10 + 7) << "the second input gradient beside the operands of the first";
    const std::vector<Action> whole{{forward, 0, 0}, {backward, 0, 0}, {forward, 1, 0}, {backward, 1, 0}};
    EXPECT_EQ(replay_memory(program, whole).total(), 100 + 10 + 7);
    // Operands larger than the activations: the peak comes after the input gradient.
    program.chunks[0].allocations.back().bytes = 40;
    EXPECT_EQ(replay_memory(program, parted).total(), 100 + 40 + 40);
}

TEST(Replay, ZeroBubbleH1KeepsTheSameOnEveryStageAndVTheSameInBothChunks)
{
    const int pp = 4, micro_batches = 16;
    const auto h1 = make_schedule(Schedule::zb_h1, pp, 1, micro_batches).value();
    const auto v = make_schedule(Schedule::zb_v, pp, 2, micro_batches).value();
    for (int s = 0; s < pp; ++s) {
        EXPECT_EQ(replay_memory(stage(s, 1, pp), h1[std::size_t(s)]).in_flight, pp);
        StageProgram both = stage(s, 2, pp);
        both.chunks[1].chunk = 2 * pp - 1 - s;
        const MemoryPeak peak = replay_memory(both, v[std::size_t(s)]);
        EXPECT_LE(peak.in_flight, 2 * pp);
        EXPECT_GE(peak.in_flight, pp);
    }
}

TEST(DeviceOverhead, CountsCommunicatorsOfMoreThanOneRank)
{
    ResolvedPlan plan;
    plan.stack.constants = {{"context_memory_gib", 1.0}, {"communicator_memory_gib", 0.5}};
    EXPECT_EQ(device_overhead_gib(plan), 1.0);
    plan.layout.tp = 2;
    EXPECT_EQ(device_overhead_gib(plan), 2.0) << "the world and TP";
    plan.layout.pp = 2;
    plan.layout.dp = 2;
    EXPECT_EQ(device_overhead_gib(plan), 3.0);
}

// Scales of fp8 that replicas share have a communicator of their own in the bundled trainer.
TEST(DeviceOverhead, CountsTheCommunicatorOfNumbers)
{
    ResolvedPlan plan;
    plan.stack.constants = {{"context_memory_gib", 1.0}, {"communicator_memory_gib", 0.5}, {"gradient_buffers", 3.0}};
    plan.layout.dp = plan.layout.dp_shard = 2;
    EXPECT_EQ(device_overhead_gib(plan), 2.0) << "the world and DP";
    plan.training.precision = Precision::fp8;
    EXPECT_EQ(device_overhead_gib(plan), 2.5);
    plan.training.fp8_recipe = Fp8Recipe::mxfp8;
    EXPECT_EQ(device_overhead_gib(plan), 2.0) << "blocks of 32 are whole everywhere";
    plan.training.fp8_recipe = Fp8Recipe::rowwise;
    EXPECT_EQ(device_overhead_gib(plan), 2.5);
    plan.training.fp8_scale_group = Fp8ScaleGroup::tp;
    EXPECT_EQ(device_overhead_gib(plan), 2.0) << "each replica has its own scale";
    plan.training.precision = Precision::bf16;
    plan.model.experts = Experts{.balance = 0.01};
    plan.training.experts.balance = Balance::micro_batch;
    EXPECT_EQ(device_overhead_gib(plan), 2.5);
    plan.stack.constants.erase("gradient_buffers");
    EXPECT_EQ(device_overhead_gib(plan), 2.0) << "another stack";
}

// The bundled trainer has one for each way between neighbours (half a one, as buffers go), and one for both ends.
TEST(DeviceOverhead, CountsTheLinksOfAPipeline)
{
    ResolvedPlan plan;
    plan.stack.constants = {{"context_memory_gib", 0.0}, {"communicator_memory_gib", 1.0}, {"gradient_buffers", 3.0}};
    const auto with = [&](int pp, Schedule schedule, int virtual_stages) {
        plan.layout.pp = pp;
        plan.layout.virtual_stages = virtual_stages;
        plan.training.schedule = schedule;
        return device_overhead_gib(plan) - 1; // the world
    };
    EXPECT_EQ(with(2, Schedule::one_f_one_b, 1), 2) << "there and back, and the ends";
    EXPECT_EQ(with(4, Schedule::one_f_one_b, 1), 2) << "both neighbours";
    EXPECT_EQ(with(4, Schedule::interleaved, 2), 3) << "both neighbours of an end, and the ends";
    EXPECT_EQ(with(2, Schedule::zb_v, 2), 2) << "one stage has both ends";
    EXPECT_EQ(with(4, Schedule::zb_v, 2), 4) << "both neighbours, twice";
}

} // namespace
} // namespace fourfold
