// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/run_settings.h"
#include "core/layout/training.h"

#include <gtest/gtest.h>

namespace fourfold {
namespace {

using Words = std::vector<std::string>;

// Every value is written as listed and read back as itself.
template <typename Enum>
void expect_spellings(const Words& words)
{
    EXPECT_EQ(spellings<Enum>(), words);
    for (std::size_t i = 0; i < words.size(); ++i) {
        EXPECT_EQ(to_text(static_cast<Enum>(i)), words[i]);
        const auto value = from_text<Enum>(words[i], "field");
        ASSERT_TRUE(value) << words[i];
        EXPECT_EQ(*value, static_cast<Enum>(i));
    }
}

TEST(Spellings, AsInTheReference)
{
    expect_spellings<Schedule>({"gpipe", "1f1b", "interleaved", "zb-h1", "zb-v", "dualpipe-v"});
    expect_spellings<Sharding>({"none", "optimizer", "gradients", "parameters", "hybrid"});
    expect_spellings<Recompute>({"none", "selective", "full"});
    expect_spellings<Precision>({"fp32", "fp16", "bf16", "fp8", "nvfp4"});
    expect_spellings<AttentionKernel>({"flash1", "flash2", "flash3", "cudnn", "fused-softmax", "unfused"});
    expect_spellings<Fp8Recipe>({"tensorwise", "rowwise", "blockwise", "mxfp8"});
    expect_spellings<CpMethod>({"ring", "all-gather", "ulysses"});
    expect_spellings<Optimizer>({"adamw", "adam", "fused-adamw", "fused-adam", "muon"});
    expect_spellings<Offload>({"none", "activations", "optimizer"});
    expect_spellings<FlopConvention>({"megatron-lm", "bloom-before-02-21", "bloom-from-02-21", "palm"});
    expect_spellings<LrSchedule>({"constant", "linear", "cosine", "wsd"});
}

TEST(Spellings, ProblemsListThem)
{
    const auto problem = from_text<Sharding>("optimiser", "a.json: training.sharding");
    ASSERT_FALSE(problem);
    EXPECT_EQ(problem.error().line(),
        "a.json: training.sharding: found \"optimiser\", expected one of none, optimizer, gradients, parameters, "
        "hybrid "
        "(did you mean optimizer?)");
    EXPECT_EQ(problem.error().exit_status(), 2);
}

TEST(Spellings, BytesPerElement)
{
    EXPECT_EQ(bytes_per_element(Precision::fp32), 4);
    EXPECT_EQ(bytes_per_element(Precision::fp16), 2);
    EXPECT_EQ(bytes_per_element(Precision::bf16), 2);
    EXPECT_EQ(bytes_per_element(Precision::fp8), 1);
    EXPECT_EQ(bytes_per_element(Precision::nvfp4), 0.5625); // 16 of 4 bits and a scale of 8
}

} // namespace
} // namespace fourfold
