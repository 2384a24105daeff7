// SPDX-License-Identifier: GPL-3.0-or-later
// What a layer keeps where products keep inputs of 8 bits, where parts of it are computed again, and where the
// activations of some layers leave: each counted by hand.
#include "core/program/allocations.h"
#include "core/program/build.h"
#include "tests/core/predict/random_plans.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace fourfold::test {
namespace {

constexpr double kTokens = 4096;

ResolvedPlan plan_of(const char* model, Json training, int tp = 1, const char* stack = "megatron-core")
{
    training.update({{"seq_len", 4096}, {"micro_batch", 1}, {"micro_batches", 1}});
    const Json layout{{"tp", tp}, {"etp", 1}};
    return resolved({{"model", model}, {"cluster", "dgx-b200"}, {"gpus", tp}, {"stack", stack}, {"layout", layout},
        {"training", training}});
}

double layer_bytes(const ResolvedPlan& plan, bool moe)
{
    return layer_activation_bytes(plan, rank_shape(plan), moe);
}

// What goes in a layer when its products are of 8 bits.
double saved(const char* model, bool moe, const char* recipe = "tensorwise", int tp = 1)
{
    return layer_bytes(plan_of(model, {{"precision", "bf16"}}, tp), moe)
        - layer_bytes(plan_of(model, {{"precision", "fp8"}, {"fp8_recipe", recipe}}, tp), moe);
}

TEST(KeptBits, ProductsOfEightBitsKeepTheirInputsSo)
{
    // Llama 3.1 8B: outputs of two norms and of the activation, not what enters the output projection.
    const double dense = kTokens * (2 * 4096 + 14336);
    EXPECT_DOUBLE_EQ(saved("llama-3.1-8b", false), dense);
    EXPECT_DOUBLE_EQ(saved("llama-3.1-8b", false, "mxfp8"), dense * 31 / 32) << "with a byte of scale for each 32";
    EXPECT_NEAR(saved("llama-3.1-8b", false, "tensorwise", 4), dense / 4, 1e-6 * dense);
    // Qwen3 30B-A3B: the router keeps the second norm's output; tokens enter 8 experts each.
    ResolvedPlan qwen = plan_of("qwen3-30b-a3b", {{"precision", "fp8"}});
    const RankShape rank = rank_shape(qwen);
    const double rows = rank.expert_rows * rank.local_experts;
    EXPECT_NEAR(saved("qwen3-30b-a3b", true), kTokens * 2048 + rows * 768 + kTokens * 8 * 2048, 1);
    // DeepSeek-V3: two products keep what the first norm gives, in 8 bits each.
    const RankShape deep = rank_shape(plan_of("deepseek-v3", {{"precision", "fp8"}}));
    EXPECT_NEAR(saved("deepseek-v3", true),
        deep.expert_rows * deep.local_experts * 2048 + kTokens * 2048 + kTokens * 8 * 7168, 1);
    EXPECT_NEAR(saved("deepseek-v3", false), kTokens * (7168 + 18432), 1);
    // A stack whose memory was measured says what it keeps.
    const auto of_stack = [](const char* stack, const char* precision) {
        return layer_bytes(plan_of("llama-3.1-8b", {{"precision", precision}}, 1, stack), false);
    };
    EXPECT_EQ(of_stack("torchtitan", "fp8"), of_stack("torchtitan", "bf16"));
}

TEST(KeptBits, OutputsOfExpertsAreKeptWhereTheRouterMultipliesThem)
{
    ResolvedPlan plan = plan_of("qwen3-30b-a3b", {{"precision", "bf16"}});
    const double without = layer_bytes(plan, true), dense = layer_bytes(plan, false);
    plan.stack.constants["expert_outputs_kept"] = 1;
    EXPECT_NEAR(layer_bytes(plan, true) - without, kTokens * 8 * 2048 * 2, 1);
    EXPECT_EQ(layer_bytes(plan, false), dense);
}

double freed(const char* model, const char* precision, Json parts, bool moe)
{
    const ResolvedPlan plan
        = plan_of(model, {{"precision", precision}, {"recompute", "selective"}, {"recompute_parts", std::move(parts)}});
    return freed_selectively(plan, rank_shape(plan), moe, layer_bytes(plan, moe));
}

TEST(KeptBits, PartsOfLatentAttentionAndOfExpertsAreFreedByTheirSizes)
{
    const double heads = 128 * 192, values = 128 * 128, latents = 1536 + 512 + 64;
    const double up = kTokens * 2 * (2 * heads + values - latents);
    EXPECT_NEAR(freed("deepseek-v3", "bf16", {"mla-up-proj"}, true), up, 1);
    EXPECT_NEAR(freed("deepseek-v3", "fp8", {"mla-up-proj"}, false), up, 1) << "attention's own are of 16 bits";
    const RankShape rank = rank_shape(plan_of("deepseek-v3", {{"precision", "bf16"}}));
    const double activation = rank.expert_rows * rank.local_experts * 2048;
    EXPECT_NEAR(freed("deepseek-v3", "bf16", {"moe-act"}, true), 2 * activation, 1) << "not the shared expert's";
    EXPECT_NEAR(freed("deepseek-v3", "fp8", {"moe-act"}, true), activation, 1);
    EXPECT_EQ(freed("deepseek-v3", "bf16", {"moe-act"}, false), 0);
    EXPECT_NEAR(freed("deepseek-v3", "bf16", {"mla-up-proj", "moe-act"}, true), up + 2 * activation, 1);
    // All of an MLP: two inputs of the activation in 16 bits, its output in 8.
    EXPECT_NEAR(freed("llama-3.1-8b", "fp8", {"mlp"}, false), kTokens * 14336 * (2 * 2 + 1), 1);
}

TEST(KeptBits, WhatIsFreedIsComputedAgain)
{
    const auto again = [](const char* part) {
        const ResolvedPlan plan
            = plan_of("deepseek-v3", {{"precision", "bf16"}, {"recompute", "selective"}, {"recompute_parts", {part}}});
        double flops = 0, bytes = 0;
        for (const StageProgram& stage : build_program(plan))
            for (const ChunkProgram& chunk : stage.chunks)
                for (const Operation& op : chunk.operations)
                    if (op.phase == Phase::recompute) {
                        flops += op.is<Gemm>() ? op.flops() * op.repeat : 0;
                        if (const auto* work = std::get_if<Elementwise>(&op.work))
                            bytes += work->bytes * op.repeat;
                    }
        return std::pair(flops, bytes);
    };
    const double up = 1536.0 * 128 * 192 + 512.0 * 128 * (128 + 128); // of queries, of keys and values
    EXPECT_NEAR(again("mla-up-proj").first, 61 * 2 * kTokens * up, 1e-6 * 61 * 2 * kTokens * up);
    EXPECT_EQ(again("moe-act").first, 0);
    EXPECT_GT(again("moe-act").second, 0);
}

// The first layers of a stage leave: memory falls by their activations, and the host's link carries theirs alone.
TEST(KeptBits, SomeLayersActivationsMayLeave)
{
    struct Kept {
        double micro_batch = 0, buffers = 0, sent_s = 0;
    };
    const auto kept = [](const Json& layers) {
        Json training{{"precision", "bf16"}, {"offload", layers == Json(0) ? "none" : "activations"}};
        if (layers != Json(0))
            training["offload_layers"] = layers;
        Kept out;
        for (const StageProgram& stage : build_program(plan_of("llama-3.1-8b", training)))
            for (const ChunkProgram& chunk : stage.chunks) {
                for (const Allocation& a : chunk.allocations)
                    if (a.kind == MemoryKind::activations && a.name != std::string("embedding output")) {
                        out.micro_batch += a.lifetime == Lifetime::micro_batch ? a.bytes : 0;
                        out.buffers += a.name == std::string("offloaded layers") ? a.bytes : 0;
                    }
                for (const Operation& op : chunk.operations)
                    if (const auto* host = std::get_if<HostCost>(&op.work);
                        host != nullptr && host->constant == Constant::host_transfer_s_per_gb)
                        out.sent_s += host->times * op.repeat;
            }
        return out;
    };
    const Kept none = kept(0), all = kept(nullptr), eight = kept(8), whole = kept(32);
    const double ends = 2 * kTokens * 4096 * 2;
    EXPECT_DOUBLE_EQ(all.micro_batch, ends);
    EXPECT_DOUBLE_EQ(whole.micro_batch, all.micro_batch);
    EXPECT_NEAR(eight.micro_batch, none.micro_batch * 24 / 32 + ends, 1);
    EXPECT_EQ(none.buffers, 0);
    EXPECT_DOUBLE_EQ(eight.buffers, all.buffers / 2) << "one is on its way, and the one in use is one that stays";
    EXPECT_NEAR(eight.sent_s, all.sent_s / 4, 1e-9 * all.sent_s);
    EXPECT_NEAR(eight.sent_s, 2 * 8 * none.micro_batch / 32 / 1e9, 1e-9) << "there and back";
}

} // namespace
} // namespace fourfold::test
