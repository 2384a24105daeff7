// SPDX-License-Identifier: GPL-3.0-or-later
// FLOP conventions against the figures that the published tables print.
#include "core/model/flops.h"
#include "core/model/layer.h"
#include "tests/core/model/csv_rows.h"
#include "tests/core/model/preset_model.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fourfold {
namespace {

TEST(ModelFlops, GiveTorchtitansUtilization)
{
    const ModelShape model = test::preset_model("llama-3.1-8b");
    const double peak = 989e12;
    EXPECT_NEAR(5762 * model_flops_per_token(model, 8192) / peak, 0.337, 0.0005);
    EXPECT_NEAR(6667 * model_flops_per_token(model, 8192) / peak, 0.390, 0.0005);
}

TEST(ModelFlops, CausalCountsHalfOfTheAttentionSquare)
{
    const ModelShape model = test::preset_model("llama-3.1-8b");
    const double square = 12.0 * 32 * 32 * 128 * 8192;
    EXPECT_DOUBLE_EQ(model_flops_per_token(model, 8192), 6 * model.active_matmul_parameters() + square);
    EXPECT_DOUBLE_EQ(model_flops_per_token(model, 8192, true), 6 * model.active_matmul_parameters() + square / 2);
}

// Scores of one head of one layer, forward and backward: 12 FLOPs each and element of the head.
TEST(ModelFlops, CausalCountsTheScoresThatWindowsLeave)
{
    const ModelShape gemma = test::preset_model("gemma-3-27b"); // each sixth of 62 layers sees everything
    const double s = 8192, w = 1024, pairs = s * s / 2, inside = w * w / 2 + (s - w) * w;
    const double expected = 12.0 * 32 * 128 * (10 * pairs + 52 * inside) / s;
    const double counted = model_flops_per_token(gemma, 8192, true) - 6 * gemma.active_matmul_parameters();
    EXPECT_NEAR(counted / expected, 1, 1e-12);
    const ModelShape scout = test::preset_model("llama-4-scout"); // chunks of 8192 tokens, each fourth layer without
    const double chunked = model_flops_per_token(scout, 32768, true) - 6 * scout.active_matmul_parameters();
    EXPECT_NEAR(chunked / (12.0 * 40 * 128 * (12 * 32768 + 36 * 8192) / 2), 1, 1e-12);
    // A sequence inside the window is like any other.
    EXPECT_DOUBLE_EQ(model_flops_per_token(gemma, 1024, true),
        6 * gemma.active_matmul_parameters() + 12.0 * 62 * 32 * 128 * 1024 / 2);
}

TEST(ModelFlops, LatentAttentionHasTwoWidths)
{
    const ModelShape model = test::preset_model("deepseek-v3");
    // Scores over 128 + 64 elements a head, values of 128; 6 FLOPs per element and key, forward and backward.
    const double square = 6.0 * 61 * 128 * (192 + 128) * 4096;
    EXPECT_DOUBLE_EQ(model_flops_per_token(model, 4096) - 6 * model.active_matmul_parameters(), square);
}

// The formula of the published tables' README, term by term.
double megatron_formula(const ModelShape& m, double padded_vocab, double s)
{
    const double h = double(m.hidden), L = m.layers;
    const double mlp = double(m.ffn) / h * (m.gated() ? 1.5 : 1.0) * (m.experts ? m.experts->active : 1);
    return 12 * L * h * h * (1 + double(m.kv_heads) / m.heads + s / h + mlp + padded_vocab / (2 * L * h));
}

TEST(MegatronFlops, AreThePublishedFormula)
{
    for (const char* id : {"llama-3.1-8b", "llama-3.1-70b", "llama-2-13b", "gpt3-175b", "mixtral-8x7b"}) {
        const ModelShape model = test::preset_model(id);
        for (const int64_t vocab : {model.vocab, model.vocab + 511}) {
            const double expected = megatron_formula(model, double(vocab), 8192);
            EXPECT_NEAR(reported_flops_per_token(model, vocab, 8192, FlopConvention::megatron_lm) / expected, 1, 1e-12)
                << id;
        }
    }
}

TEST(MegatronFlops, DifferFromPalmOnlyByPaddingForDenseModels)
{
    const ModelShape model = test::preset_model("llama-3.1-8b");
    const double palm = reported_flops_per_token(model, 128512, 8192, FlopConvention::palm);
    EXPECT_DOUBLE_EQ(palm, model_flops_per_token(model, 8192));
    EXPECT_NEAR(
        reported_flops_per_token(model, 128512, 8192, FlopConvention::megatron_lm) - palm, 6.0 * 256 * 4096, 1e-3);
}

TEST(BloomFlops, ReproduceThePrintedTable)
{
    const auto rows = test::read_csv(std::string(FOURFOLD_SOURCE_DIR) + "/presets/published/bloom_prequel_a100.csv");
    int before = 0, from = 0;
    for (const test::Row& row : rows) {
        if (row.at("step_time_s").empty() || row.at("value").empty() || !row.at("anomaly").empty())
            continue;
        const bool old = row.at("flop_convention") == "bloom-before-02-21";
        ++(old ? before : from);
        ModelShape model;
        model.layers = std::stoi(row.at("layers"));
        model.hidden = std::stoll(row.at("hidden"));
        const int64_t seq_len = std::stoll(row.at("seq_len"));
        const double flops = reported_flops_per_token(model, std::stoll(row.at("vocab")), seq_len,
            old ? FlopConvention::bloom_before_02_21 : FlopConvention::bloom_from_02_21);
        const double tokens_per_gpu = std::stod(row.at("global_batch")) * double(seq_len) / std::stod(row.at("gpus"));
        const double tflops = flops * tokens_per_gpu / std::stod(row.at("step_time_s")) / 1e12;
        // All old rows print 0.033 % more than the formula gives; the new ones agree to their last digit.
        EXPECT_NEAR(tflops / std::stod(row.at("value")), 1, old ? 5e-4 : 1e-4) << row.at("row");
    }
    EXPECT_EQ(before, 39);
    EXPECT_EQ(from, 49);
}

// "README_WEIGHTS" of deepseek-ai/DeepSeek-V3: a prediction module has 11.5 billion parameters of its own, and with the
// shared embedding and head of 0.9 billion each it activates 2.4 billion.
TEST(ModelFlops, CountDeepseeksPredictionModules)
{
    ModelShape model = test::preset_model("deepseek-v3");
    const double without = model.parameters(), flops = model_flops_per_token(model, 4096);
    EXPECT_EQ(model.active_matmul_parameters_ahead(), 0);
    model.predicted_ahead = 1;
    EXPECT_EQ(model.parameters(), without) << "of the main model, as its publishers count";
    const LayerParameters one = layer_parameters(model, rows_of_module(model), {});
    EXPECT_NEAR((one.matrices(256) + one.vectors) / 1e9, 11.5, 0.15);
    const double table = double(model.vocab) * double(model.hidden);
    EXPECT_NEAR((model.active_matmul_parameters_ahead() + table) / 1e9, 2.4, 0.15);
    const double square = 6 * 4096.0 * 128 * (192 + 128); // of one more layer's attention
    EXPECT_NEAR(model_flops_per_token(model, 4096) - flops, 6 * model.active_matmul_parameters_ahead() + square, 1e3);
    model.predicted_ahead = 2;
    EXPECT_NEAR(
        model_flops_per_token(model, 4096) - flops, 6 * model.active_matmul_parameters_ahead() + 2 * square, 1e3);
}

} // namespace
} // namespace fourfold
