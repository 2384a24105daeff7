// SPDX-License-Identifier: GPL-3.0-or-later
// The two best-known runs. No constant is fitted to either.
#include "core/predict/prediction.h"
#include "tests/core/predict/random_plans.h"

#include <gtest/gtest.h>

namespace fourfold::test {
namespace {

// "The Llama 3 Herd of Models" (arXiv:2407.21783), section 3.3.2 and table 4: 405B on H100, 126 layers on 16 stages of
// 8 chunks (one less on the first and on the last), FSDP that shards states and gradients, no recomputation, 16
// sequences a replica.
Json llama_405b(int gpus, int cp, int dp, int seq_len, int sequences)
{
    return {{"model", "llama-3.1-405b"}, {"cluster", "dgx-h100"}, {"gpus", gpus}, {"stack", "megatron-lm"},
        {"layout", {{"tp", 8}, {"cp", cp}, {"pp", 16}, {"dp", dp}, {"virtual_stages", 8}}},
        {"training",
            {{"seq_len", seq_len}, {"micro_batch", 1}, {"global_batch", sequences}, {"schedule", "interleaved"},
                {"sharding", "gradients"}, {"recompute", "none"}, {"precision", "bf16"}, {"cp_method", "all-gather"}}}};
}

TEST(PublishedRuns, Llama405BOnSixteenThousandH100FitsAtItsMfu)
{
    const Prediction eight_k = predict(resolved(llama_405b(16384, 1, 128, 8192, 2048)));
    ASSERT_TRUE(eight_k.feasible && eight_k.mfu);
    EXPECT_NE(eight_k.fit, Fit::no);
    EXPECT_NEAR(*eight_k.mfu, 0.41, 0.41 * 0.12);
    const Prediction long_context = predict(resolved(llama_405b(16384, 16, 8, 131072, 128)));
    ASSERT_TRUE(long_context.feasible && long_context.mfu);
    EXPECT_NE(long_context.fit, Fit::no);
    EXPECT_NEAR(*long_context.mfu, 0.38, 0.38 * 0.12);
}

// "DeepSeek-V3 Technical Report" (arXiv:2412.19437), sections 3.1 to 3.2 and 4.2: PP 16, EP 64 on 8 nodes, ZeRO-1, fp8
// with scales of blocks, optimizer states in bf16, 15,360 sequences of 4,096 tokens; 180,000 GPU hours for 10^12 tokens
// are 1,543 tokens/s, with the module of multi-token prediction. Its software is no stack of ours. Memory is not asked
// for: the run keeps activations in fp8, which no setting says.
TEST(PublishedRuns, DeepSeekV3OnTwoThousandH800)
{
    Json plan{{"model", "deepseek-v3"}, {"cluster", "hgx-h800"}, {"gpus", 2048}, {"stack", "generic"},
        {"layout",
            {{"tp", 1}, {"pp", 16}, {"dp", 128}, {"ep", 64}, {"virtual_stages", 2},
                {"order", {"tp", "cp", "dp", "pp"}}}},
        {"training",
            {{"seq_len", 4096}, {"micro_batch", 1}, {"global_batch", 15360}, {"schedule", "dualpipe-v"},
                {"sharding", "optimizer"}, {"recompute", "selective"}, {"precision", "fp8"},
                {"fp8_recipe", "blockwise"}, {"optimizer_state_dtype", "bf16"}}}};
    const Prediction without = predict(resolved(plan));
    ASSERT_TRUE(without.tps_per_gpu);
    EXPECT_NEAR(*without.tps_per_gpu, 1543, 1543 * 0.12);
    ModelShape model = without.plan.model;
    model.predicted_ahead = 1;
    plan["model"] = config_from_model(model);
    const Prediction with = predict(resolved(plan));
    ASSERT_TRUE(with.tps_per_gpu);
    EXPECT_NEAR(*with.tps_per_gpu, 1543, 1543 * 0.06);
    EXPECT_LT(*with.tps_per_gpu, *without.tps_per_gpu);
}

} // namespace
} // namespace fourfold::test
