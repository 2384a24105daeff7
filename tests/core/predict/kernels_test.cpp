// SPDX-License-Identifier: GPL-3.0-or-later
// What was measured with one kernel says nothing about another: neither its rates nor its evidence.
#include "core/plan/plan_constants.h"
#include "core/predict/interval.h"
#include "core/predict/prediction.h"
#include "tests/core/predict/random_plans.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace fourfold::test {
namespace {

Json plan_on(const std::string& stack, const std::string& cluster, int tp, int pp, int gpus, int micro_batch)
{
    const int dp = gpus / tp / pp;
    return {{"model", "llama-2-13b"}, {"cluster", cluster}, {"gpus", gpus}, {"stack", stack},
        {"layout", {{"tp", tp}, {"pp", pp}, {"dp", dp}}},
        {"training", {{"seq_len", 4096}, {"micro_batch", micro_batch}, {"global_batch", micro_batch * dp * 16}}}};
}

TEST(Kernels, NoOrdinaryPlanAboveThreeQuartersOfThePeakIsCalledCalibrated)
{
    int plans = 0, calibrated = 0;
    for (const char* stack : {"megatron-lm", "megatron-deepspeed", "nanotron", "torchtitan"}) {
        for (const char* cluster :
            {"dgx-a100", "dgx-h100", "abci-a", "tsubame4", "jean-zay-a100", "grand-teton-h100", "dgx-b200"}) {
            for (const int tp : {1, 2, 4}) {
                for (const int pp : {1, 2}) {
                    for (const int micro_batch : {1, 4}) {
                        const Prediction p = predict(resolved(plan_on(stack, cluster, tp, pp, 32, micro_batch)));
                        SCOPED_TRACE(std::string(stack) + " " + cluster);
                        if (!p.step_time_s)
                            continue;
                        ++plans;
                        if (p.evidence == Evidence::extrapolated)
                            continue;
                        ++calibrated;
                        EXPECT_LE(*p.mfu_causal, 0.75);
                        EXPECT_FALSE(p.at_least);
                    }
                }
            }
        }
    }
    EXPECT_GT(plans, 200);
    EXPECT_GT(calibrated, 10);
}

// Experts that have places for part of what the tokens choose: said before anything runs, with how much is dropped even
// where routing is even.
TEST(Capacity, ThatDropsIsToldWithItsShare)
{
    const auto warned = [](double capacity, const char* of) {
        Json plan{{"model", "mixtral-8x7b"}, {"cluster", "dgx-h100"}, {"gpus", 8}, {"stack", "fourfold"},
            {"layout", {{"tp", 1}, {"pp", 1}, {"dp", 8}, {"ep", 8}}},
            {"training",
                {{"seq_len", 4096}, {"micro_batch", 1}, {"global_batch", 8},
                    {"experts", {{"capacity", capacity}, {"capacity_of", of}}}}}};
        std::string told;
        for (const std::string& warning : predict(resolved(plan)).warnings)
            told += warning.starts_with("training.experts.capacity") ? warning : "";
        return told;
    };
    EXPECT_EQ(warned(0, "sequence"), "");
    EXPECT_EQ(warned(1, "sequence"), "");
    EXPECT_EQ(warned(0.5, "sequence"),
        "training.experts.capacity 0.5: an expert has 512 places where even routing sends it 1024.0 tokens of a "
        "sequence: 50.0 % of the tokens' choices are dropped at least");
    EXPECT_EQ(warned(0.5, "rank"),
        "training.experts.capacity 0.5: an expert has 512 places where even routing sends it 1024.0 tokens of a rank: "
        "50.0 % of the tokens' choices are dropped at least");
    EXPECT_EQ(warned(1e-6, "sequence"),
        "training.experts.capacity 1e-06: an expert has 1 place where even routing sends it 1024.0 tokens of a "
        "sequence: nearly all, 99.9 % of the tokens' choices are dropped at least");
}

// A prediction for the bundled trainer says what it cannot run yet, in the words in which a run is refused; one for
// other software says nothing of it.
TEST(OurTrainer, WhatItDoesNotRunIsToldOnce)
{
    const auto told = [](const char* stack, const Json& training) {
        Json plan{{"model", "llama-3.1-8b"}, {"cluster", "dgx-h100"}, {"gpus", 8}, {"stack", stack},
            {"layout", {{"tp", 1}, {"pp", 1}, {"dp", 8}}},
            {"training", {{"seq_len", 4096}, {"micro_batch", 1}, {"global_batch", 8}, {"sharding", "parameters"}}}};
        plan["training"].update(training);
        const Prediction prediction = predict(resolved(plan));
        EXPECT_TRUE(prediction.step_time_s);
        return std::ranges::count(prediction.warnings,
            "training.attention: fourfold-trainer does not run the attention kernel \"flash3\" yet; use flash2");
    };
    EXPECT_EQ(told("fourfold", {{"attention", "flash3"}}), 1);
    EXPECT_EQ(told("fourfold", {{"attention", "flash2"}}), 0);
    EXPECT_EQ(told("torchtitan", {{"attention", "flash3"}}), 0);
}

TEST(Kernels, RatesOfAnUnmeasuredKernelComeFromTheGenerationNotFromAnotherKernel)
{
    Stack stack;
    stack.id = "s";
    stack.constants = {{"gemm_efficiency", 0.5}, {"intra_node_efficiency", 0.5}};
    stack.gpu_constants = {{"a", {{"gemm_efficiency", 0.9}, {"intra_node_efficiency", 0.9}}},
        {"b", {{"gemm_efficiency", 0.7}, {"intra_node_efficiency", 0.7}}}};
    stack.measured["a"] = {.runs = 9, .generation = "ampere", .kernels = {AttentionKernel::unfused}};
    stack.measured["b"] = {.runs = 5, .generation = "ampere", .kernels = {AttentionKernel::flash2}};
    const auto gemm = [&](const char* gpu, const char* generation, AttentionKernel kernel) {
        return Constants(stack, gpu, generation, kernel)[Constant::gemm_efficiency];
    };
    const auto links = [&](const char* gpu, AttentionKernel kernel) {
        return Constants(stack, gpu, "ampere", kernel)[Constant::intra_node_efficiency];
    };
    EXPECT_EQ(gemm("a", "ampere", AttentionKernel::unfused), 0.9);
    EXPECT_EQ(gemm("a", "ampere", AttentionKernel::flash2), 0.7) << "as on the GPU of its generation";
    EXPECT_EQ(gemm("c", "ampere", AttentionKernel::flash2), 0.7) << "never measured itself";
    EXPECT_EQ(gemm("c", "hopper", AttentionKernel::flash2), 0.5);
    EXPECT_EQ(gemm("a", "ampere", AttentionKernel::cudnn), 0.5) << "nobody measured it";
    EXPECT_EQ(links("a", AttentionKernel::flash2), 0.5) << "links are the cluster's";
    EXPECT_EQ(links("b", AttentionKernel::flash2), 0.7);
}

TEST(Kernels, EvidenceLooksAtTheKernel)
{
    const auto evidence = [](const char* cluster, const Json& attention) {
        Json plan = plan_on("megatron-lm", cluster, 2, 1, 16, 1);
        plan["training"]["attention"] = attention;
        return predict(resolved(plan)).evidence;
    };
    EXPECT_EQ(evidence("abci-a", nullptr), Evidence::calibrated);
    EXPECT_EQ(evidence("abci-a", "unfused"), Evidence::extrapolated);
    EXPECT_EQ(evidence("dgx-a100", nullptr), Evidence::extrapolated) << "measured with unfused attention";
}

TEST(Kernels, WhatAClusterMeasuredHoldsWithAKernelThatTheStackDidNotMeasureThere)
{
    const std::filesystem::path shipped = std::filesystem::path(FOURFOLD_SOURCE_DIR) / "presets";
    Json cluster = *read_json_file(shipped / "clusters" / "dgx-a100.json");
    cluster["calibration"] = {{"stack", "megatron-lm"}, {"constants", {{"gemm_efficiency", 0.3}}}};
    // A preset of the user's; what a plan writes itself is not measured there.
    const TemporaryFolder users;
    ASSERT_TRUE(std::filesystem::create_directory(users / "clusters"));
    ASSERT_TRUE(write_file_atomically(users / "clusters/dgx-a100.json", cluster.dump()));
    const Json plan = plan_on("megatron-lm", "dgx-a100", 2, 1, 16, 1);
    const double before = *predict(resolved(plan)).step_time_s;
    const auto measured = resolve(*plan_from_json(plan, "test.plan.json"), Presets({users.path(), shipped}));
    ASSERT_TRUE(measured) << measured.error().line();
    const ResolvedPlan& own = *measured;
    const Constants constants = constants_of(own);
    EXPECT_EQ(constants[Constant::gemm_efficiency], 0.3);
    EXPECT_EQ(constants[Constant::attention_efficiency], info(Constant::attention_efficiency).prior)
        << "not that of the unfused kernel";
    EXPECT_GT(*predict(own).step_time_s, before * 1.5);
}

TEST(Kernels, AStackTakesTheBetterKernelOfAGeneration)
{
    const auto kernel = [](const char* cluster, const Json& attention) {
        Json plan = plan_on("megatron-lm", cluster, 2, 1, 16, 1);
        plan["training"]["attention"] = attention;
        return resolved(plan).training.attention;
    };
    EXPECT_EQ(kernel("dgx-h100", nullptr), AttentionKernel::flash2);
    EXPECT_EQ(kernel("dgx-b200", nullptr), AttentionKernel::cudnn);
    EXPECT_EQ(kernel("dgx-b200", "flash2"), AttentionKernel::flash2) << "who writes one gets it";
}

TEST(Fp8, RecipesCostWhatTheirScalesCost)
{
    const auto step = [](const char* cluster, const char* recipe) {
        Json plan = plan_on("generic", cluster, 1, 1, 8, 1);
        plan["training"]["precision"] = "fp8";
        plan["training"]["fp8_recipe"] = recipe;
        return predict(resolved(plan));
    };
    const Prediction plain = step("dgx-b200", "tensorwise");
    EXPECT_GT(*step("dgx-b200", "blockwise").step_time_s, *plain.step_time_s * 1.02);
    EXPECT_GT(*step("dgx-b200", "rowwise").step_time_s, *step("dgx-b200", "blockwise").step_time_s);
    EXPECT_NEAR(*step("dgx-b200", "mxfp8").step_time_s, *plain.step_time_s, *plain.step_time_s * 0.02);
    const Prediction refused = step("dgx-h100", "mxfp8");
    ASSERT_FALSE(refused.reasons.empty());
    EXPECT_EQ(refused.reasons.front().code, "fp8_recipe_unsupported");
    EXPECT_EQ(refused.reasons.front().nearest, "\"tensorwise\"");
}

TEST(Nvfp4, IsPredictedWhereTheMatrixUnitsTakeIt)
{
    const auto step = [](const char* cluster, const char* precision) {
        Json plan = plan_on("megatron-core", cluster, 1, 1, 8, 1);
        plan["training"]["precision"] = precision;
        return predict(resolved(plan));
    };
    for (const char* cluster : {"dgx-b200", "dgx-b300", "gb300-nvl72"}) {
        SCOPED_TRACE(cluster);
        const Prediction fp8 = step(cluster, "fp8"), fp4 = step(cluster, "nvfp4");
        EXPECT_LT(*fp4.step_time_s, *fp8.step_time_s);
        EXPECT_GT(*fp4.step_time_s, *fp8.step_time_s / 3) << "products alone are faster";
        EXPECT_FALSE(fp4.mfu);
        EXPECT_TRUE(fp4.mfu_bf16_peak);
        EXPECT_EQ(fp4.evidence, Evidence::extrapolated) << "nobody has measured it";
        EXPECT_GT(time_half_width(fp4.plan), time_half_width(fp8.plan));
    }
    for (const char* cluster : {"dgx-h100", "dgx-a100"}) {
        const Prediction refused = step(cluster, "nvfp4");
        ASSERT_FALSE(refused.reasons.empty());
        EXPECT_EQ(refused.reasons.front().code, "precision_unsupported");
    }
    ResolvedPlan amd = step("dgx-b200", "nvfp4").plan;
    amd.cluster.gpu.generation = "cdna4"; // fp4 with the scales of OCP MX
    EXPECT_EQ(check(amd).front().code, "precision_unsupported");
}

TEST(Stages, EmbeddingAndLossMayCountAsLayers)
{
    Json plan{{"model", "llama-3.1-405b"}, {"cluster", "dgx-h100"}, {"gpus", 16384}, {"stack", "megatron-lm"},
        {"layout", {{"tp", 8}, {"pp", 16}, {"dp", 128}, {"virtual_stages", 8}}},
        {"training", {{"seq_len", 8192}, {"global_batch", 2048}, {"schedule", "interleaved"}}}};
    const ResolvedPlan llama = resolved(plan);
    ASSERT_EQ(llama.layout.stage_layers.size(), 128U);
    EXPECT_EQ(llama.layout.stage_layers.front(), 0);
    EXPECT_EQ(llama.layout.stage_layers.back(), 0);
    EXPECT_EQ(std::count(llama.layout.stage_layers.begin(), llama.layout.stage_layers.end(), 1), 126);
    EXPECT_TRUE(check(llama).empty());
    EXPECT_TRUE(predict(llama).step_time_s);
    plan["stack"] = "generic";
    EXPECT_FALSE(check(resolved(plan)).empty()) << "only where the software counts them";
    plan["stack"] = "megatron-lm";
    plan["layout"]["virtual_stages"] = 9;
    EXPECT_FALSE(check(resolved(plan)).empty()) << "144 chunks";
}

} // namespace
} // namespace fourfold::test
