// SPDX-License-Identifier: GPL-3.0-or-later
// What a rehearsal says of the reserved memory beside what GPUs showed: the trainer of 26 November 2026 with LibTorch
// 2.11.0, bf16 without recomputation on an H200, the others on an H100 (tests/bench/README.md).
#include "runner/trainer/rehearsal/rehearse_rank.h"
#include "tests/parity/compare.h"
#include "tests/parity/tiny_plans.h"

#include <gtest/gtest.h>

namespace fourfold::trainer {
namespace {

// Of tests/gpu/memory.py: hidden size 1024, 8 layers; what c10::cuda reserved at the end of step 3.
struct Measured {
    const char* name;
    int seq_len, micro_batch;
    const char *precision, *recompute;
    double reserved_mib;
};

class RehearsedMemory : public ::testing::TestWithParam<Measured> { };

TEST_P(RehearsedMemory, IsWhatAGpuReserved)
{
    const Measured& run = GetParam();
    const auto quoted = [](const std::string& key, const char* word) { return key + "=\"" + word + '"'; };
    const auto number = [](const std::string& key, int value) { return key + "=" + std::to_string(value); };
    const fourfold::testing::TemporaryFolder folder; // its tokens are not read
    const ResolvedPlan plan = fourfold::testing::tiny_plan(fourfold::testing::write_tokens(folder.path()),
        {R"(model={"model_type":"llama","hidden_size":1024,"num_hidden_layers":8,"vocab_size":32000,)"
         R"("num_attention_heads":16,"num_key_value_heads":4,"intermediate_size":2816,)"
         R"("max_position_embeddings":4096,"tie_word_embeddings":false})",
            quoted("cluster", "dgx-h100"), "gpus=1", number("training.seq_len", run.seq_len),
            number("training.micro_batch", run.micro_batch), number("training.global_batch", 2 * run.micro_batch),
            quoted("training.precision", run.precision), quoted("training.recompute", run.recompute)});
    const auto rehearsed = rehearse_rank(plan, 0);
    ASSERT_TRUE(rehearsed) << rehearsed.error().line();
    constexpr double kMiB = 1 << 20, kBound = 0.01;
    EXPECT_NEAR(double(rehearsed->reserved) / kMiB, run.reserved_mib, kBound * run.reserved_mib);
}

const Measured kMeasured[] = {
    {"bf16", 1024, 1, "bf16", "none", 3412},
    {"bf16_selective", 4096, 2, "bf16", "selective", 5586},
    {"bf16_full", 4096, 2, "bf16", "full", 3798},
    {"fp32", 1024, 4, "fp32", "none", 5608},
};
INSTANTIATE_TEST_SUITE_P(
    Gpus, RehearsedMemory, ::testing::ValuesIn(kMeasured), [](const auto& info) { return info.param.name; });

} // namespace
} // namespace fourfold::trainer
