// SPDX-License-Identifier: GPL-3.0-or-later
// The CUDA trainer. Where there is no GPU only its refusal can be tested; the rest is skipped and says so. The whole
// matrix on a GPU: FOURFOLD_PARITY_GPU=1 build/release/tests/trainer_matrix_long_test. Collectives: nccl_test.cpp.
#include "tests/parity/compare.h"
#include "tests/parity/graph_cases.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/trained.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace fourfold::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

bool gpu_here()
{
    return std::filesystem::exists("/dev/nvidia0");
}

constexpr char kNoGpu[] = "no GPU on this computer (/dev/nvidia0): the CUDA trainer is compiled and linked only";

struct Outcome {
    int status = -1;
    std::vector<Json> events;
    std::string log;
};

Outcome train_one_rank(const std::filesystem::path& program, const std::string& backend)
{
    const TemporaryFolder folder;
    const auto plan = tiny_plan(write_tokens(folder.path()));
    Ranks ranks(1, {program, "--plan", write_plan(plan, folder.path()), "--run-dir", folder.path()}, folder.path(),
        {{"FOURFOLD_BACKEND", backend}});
    const int status = ranks.wait(200s)[0];
    return {status, ranks.events(0), ranks.log(0)};
}

TEST(CudaTrainer, WithoutGpusItRunsOnTheCpuOverGloo)
{
    if (gpu_here())
        GTEST_SKIP() << "this computer has a GPU";
    const auto outcome = train_one_rank(cuda_trainer_program(), "");
    if (outcome.status == 127 || outcome.log.find("error while loading shared libraries") != std::string::npos)
        GTEST_SKIP() << "needs the libraries of a computer with a GPU: " << outcome.log;
    ASSERT_EQ(outcome.status, 0) << outcome.log;
    EXPECT_EQ(outcome.events.at(0)["versions"]["backend"], "gloo");
    EXPECT_FALSE(outcome.events.at(0)["versions"]["nccl"].is_null());
}

TEST(CudaTrainer, NcclWithoutGpusIsRefused)
{
    if (gpu_here())
        GTEST_SKIP() << "this computer has a GPU";
    const auto outcome = train_one_rank(cuda_trainer_program(), "nccl");
    if (outcome.status == 127 || outcome.log.find("error while loading shared libraries") != std::string::npos)
        GTEST_SKIP() << "needs the libraries of a computer with a GPU: " << outcome.log;
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.log, HasSubstr("has no GPU, and the job runs on GPUs"));
}

TEST(CudaTrainer, OneRankOnAGpuFollowsTheCpu)
{
    if (!gpu_here())
        GTEST_SKIP() << kNoGpu;
    const auto gpu = train_one_rank(cuda_trainer_program(), "nccl"), cpu = train_one_rank(trainer_program(), "gloo");
    ASSERT_EQ(gpu.status, 0) << gpu.log;
    ASSERT_EQ(gpu.events.size(), cpu.events.size());
    for (std::size_t i = 0; i < gpu.events.size(); ++i)
        if (gpu.events[i]["event"] == "step") {
            EXPECT_NEAR(gpu.events[i]["loss"].get<double>(), cpu.events[i]["loss"].get<double>(), 1e-3);
        }
}

// Copies beside the computation, from and to pinned memory.
const std::string kGpus = "cluster=\"dgx-h100\"", kActivationsAway = "training.offload=\"activations\"",
                  kOptimizerAway = "training.offload=\"optimizer\"";

// A few meshes with tensors on one GPU that all ranks share, in fp64 and fp32.
class OneGpu : public ::testing::TestWithParam<Case> { };

TEST_P(OneGpu, AMeshEqualsOneRank)
{
    if (!gpu_here())
        GTEST_SKIP() << kNoGpu;
    EXPECT_EQ(excess(compare_with_one_rank(GetParam(), {"--both", "--gpu"}, {"--both", "--gpu"})), "");
}

INSTANTIATE_TEST_SUITE_P(Meshes, OneGpu,
    ::testing::Values(Case{"tp2_dp2", {"gpus=4", "layout.tp=2", "layout.dp=2"}, {}},
        Case{"cp2_ring", {"gpus=2", "layout.cp=2"}, {}},
        Case{"cp2_all_gather", {"gpus=2", "layout.cp=2", "training.cp_method=\"all-gather\""}, {}},
        Case{"pp2_dp2_fsdp", {"gpus=4", "layout.pp=2", "layout.dp=2", "training.sharding=\"parameters\""}, {}},
        Case{"tp2_cp2_pp2_dp2", {"gpus=16", "layout.tp=2", "layout.cp=2", "layout.pp=2", "layout.dp=2"}, {}},
        Case{"activations_away", {"gpus=1", kGpus, kActivationsAway}, {"model.num_hidden_layers=4"}},
        Case{"pp2_interleaved_activations_away_recompute",
            {"gpus=2", kGpus, kActivationsAway, "layout.pp=2", "layout.virtual_stages=2",
                "training.schedule=\"interleaved\"", "training.recompute=\"full\""},
            {"model.num_hidden_layers=8"}},
        Case{"optimizer_away", {"gpus=1", kGpus, kOptimizerAway}, {}},
        Case{"dp2_fsdp_optimizer_away",
            {"gpus=2", kGpus, kOptimizerAway, "layout.dp=2", "training.sharding=\"parameters\""}, {}}),
    [](const auto& info) { return info.param.name; });

const std::vector<std::string> kMixtral{
    "model.model_type=\"mixtral\"", "model.num_local_experts=4", "model.num_experts_per_tok=2"};

// The same over NCCL, against one rank on the CPU: kernels that wait for each other on real queues.
class OneGpuOverNccl : public ::testing::TestWithParam<Case> { };

TEST_P(OneGpuOverNccl, AMeshEqualsOneRankOnTheCpu)
{
    if (!gpu_here())
        GTEST_SKIP() << kNoGpu;
    EXPECT_EQ(excess(compare_with_one_rank(
                  of_steps(GetParam(), kSteps), {"--fp64"}, {"--fp64", "--gpu", "--nccl", "--timeout", "60"})),
        "");
}

INSTANTIATE_TEST_SUITE_P(Meshes, OneGpuOverNccl,
    ::testing::Values(Case{"tp2_dp2", {"gpus=4", "layout.tp=2", "layout.dp=2"}, {}},
        Case{"cp2_ring", {"gpus=2", "layout.cp=2"}, {}},
        Case{"pp2_dp2_fsdp", {"gpus=4", "layout.pp=2", "layout.dp=2", "training.sharding=\"parameters\""}, {}},
        Case{"async_tp2", {"gpus=2", "layout.tp=2", "training.async_tp=true"}, {}},
        Case{"mixtral_ep2", {"gpus=2", "layout.dp=2", "layout.ep=2"}, kMixtral},
        pipeline_case("interleaved_pp3_v2_m6", "interleaved", 3, 2, 6), pipeline_case("zb_v_pp4_m8", "zb-v", 4, 2, 8),
        pipeline_case("dualpipe_v_pp3_m8", "dualpipe-v", 3, 2, 8),
        Case{"tp2_cp2_pp2", {"gpus=8", "layout.tp=2", "layout.cp=2", "layout.pp=2"}, {}}),
    [](const auto& info) { return info.param.name; });

// Layers recorded as CUDA graphs on the GPU, against one rank on it whose layers are computed each time.
class RecordedOnAGpu : public ::testing::TestWithParam<GraphCase> { };

TEST_P(RecordedOnAGpu, LayersTrainAsTheOthers)
{
    if (!gpu_here())
        GTEST_SKIP() << kNoGpu;
    const auto worst = compare_with_one_rank(
        of_steps(GetParam().what, kGraphSteps), {"--fp64", "--gpu"}, {"--fp64", "--gpu", "--nccl", "--timeout", "60"});
    ASSERT_EQ(worst.problem, "");
    EXPECT_EQ(excess(worst), "");
    EXPECT_EQ(worst.replays, int64_t(2) * kGraphSteps * GetParam().layers * worst.mesh.training.micro_batches);
}

INSTANTIATE_TEST_SUITE_P(
    Meshes, RecordedOnAGpu, ::testing::ValuesIn(graph_cases()), [](const auto& info) { return info.param.what.name; });

// In the precision of real runs, whose gradients are added up in another one.
TEST(CudaTrainer, RecordedLayersInBf16FollowComputedOnes)
{
    if (!gpu_here())
        GTEST_SKIP() << kNoGpu;
    const TemporaryFolder folder;
    const auto tokens = write_tokens(folder.path());
    const std::vector<std::string> bf16{"cluster=\"dgx-h100\"", "training.precision=\"bf16\"", "model.hidden_size=128"};
    const auto computed = run_job(tiny_plan(tokens, bf16), folder.path() / "computed", {"--gpu"});
    const auto recorded
        = run_job(tiny_plan(tokens, joined(bf16, kAsksForGraphs)), folder.path() / "recorded", {"--gpu"});
    ASSERT_EQ(computed.problem + recorded.problem, "");
    EXPECT_EQ(recorded.dumps[0].without_graphs, "");
    EXPECT_GT(recorded.dumps[0].replays, 0);
    // The same kernels on the same numbers.
    EXPECT_EQ(recorded.dumps[0].losses, computed.dumps[0].losses);
}

// In the precision and with the kernels of real runs, which are not those of the CPU; several ranks over NCCL.
class InItsOwnPrecision : public ::testing::TestWithParam<Case> { };

TEST_P(InItsOwnPrecision, LossesAreNearThoseOfOneRankOnTheCpu)
{
    if (!gpu_here())
        GTEST_SKIP() << kNoGpu;
    const TemporaryFolder folder;
    const auto tokens = write_tokens(folder.path());
    const auto cpu = run_job(tiny_plan(tokens, GetParam().model), folder.path() / "cpu", {});
    const auto gpu = run_job(tiny_plan(tokens, joined(GetParam().model, GetParam().mesh)), folder.path() / "gpu",
        {"--gpu", "--nccl", "--timeout", "60"});
    ASSERT_EQ(cpu.problem + gpu.problem, "");
    const auto &expected = cpu.dumps[0].losses, &found = gpu.dumps[0].losses;
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t step = 0; step < found.size(); ++step)
        EXPECT_NEAR(found[step] / expected[step], 1, 0.02) << "step " << step;
}

std::vector<Case> own_precisions()
{
    const std::vector<std::string> none, bf16{kEveryPrecision, "training.precision=\"bf16\""},
        half{kEveryPrecision, "training.precision=\"fp16\""};
    const std::vector<std::string> fsdp{"gpus=2", "layout.dp=2", "training.sharding=\"parameters\""};
    return {{"fp16", none, half}, {"fp8_tensorwise", none, fp8_model("tensorwise", 16)},
        {"fp8_rowwise", none, fp8_model("rowwise", 16)}, {"fp8_blockwise", none, fp8_model("blockwise", 128)},
        {"fp8_dp2_fsdp", fsdp, fp8_model("tensorwise", 16)}, {"bf16_dp2_fsdp", fsdp, bf16},
        {"bf16_tp2_cp2", {"gpus=4", "layout.tp=2", "layout.cp=2"}, bf16},
        {"cudnn", {"training.attention=\"cudnn\""}, joined(bf16, {"model.head_dim=64"})},
        {"mixtral", none, joined(bf16, kMixtral)},
        {"mixtral_ep2_pp2", {"gpus=4", "layout.dp=2", "layout.ep=2", "layout.pp=2"}, joined(bf16, kMixtral)},
        {"documents", none, joined(bf16, {R"(run.documents={"mask":true,"end":8})"})},
        {"operations", {"training.recompute=\"selective\"", "training.recompute_parts=[\"operations\"]"}, bf16},
        {"states_in_bf16", none, joined(bf16, {"training.optimizer_state_dtype=\"bf16\""})}};
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, InItsOwnPrecision, ::testing::ValuesIn(own_precisions()), [](const auto& info) { return info.param.name; });

// What a GPU saved goes on there and on the CPU, and both go on with a text in the same way.
TEST(CudaTrainer, ACheckpointGoesOnOnBoth)
{
    if (!gpu_here())
        GTEST_SKIP() << kNoGpu;
    const TemporaryFolder folder;
    const auto tokens = write_tokens(folder.path());
    const auto whole = train(tiny_plan(tokens, {"run.checkpoint.every=4"}), folder.path() / "whole", true);
    ASSERT_EQ(whole.problem, "");
    const std::string saved = whole.checkpoints.at(8);
    for (const bool cuda : {true, false}) {
        const auto resumed = train(tiny_plan(tokens, {"run.checkpoint.load=" + Json(saved).dump()}),
            folder.path() / (cuda ? "gpu" : "cpu"), cuda);
        ASSERT_EQ(resumed.problem, "");
        ASSERT_EQ(resumed.losses.size(), 2u);
        for (const auto& [step, loss] : resumed.losses)
            EXPECT_NEAR(loss, whole.losses.at(step), 1e-4) << step << (cuda ? "" : " on the CPU");
    }
    const auto goes_on = [&](const std::filesystem::path& program) {
        const auto out = folder.path() / "text";
        const std::string command = "'" + program.string() + "' --generate '[5, 6, 7]' --model '" + saved
            + "' --tokens 12 >'" + out.string() + "' 2>&1";
        EXPECT_EQ(std::system(command.c_str()), 0);
        std::ifstream in(out);
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    const std::string text = goes_on(cuda_trainer_program());
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text, goes_on(trainer_program()));
}

// The worker of these tests, on the CPU: what is skipped above would at least start.
TEST(CudaParityWorker, EqualsTheCpuProgramWithoutAGpu)
{
    if (gpu_here())
        GTEST_SKIP() << "this computer has a GPU";
    const TemporaryFolder folder;
    const auto tokens = write_tokens(folder.path());
    Ranks ranks(1,
        {cuda_parity_worker(), "--plan", write_plan(tiny_plan(tokens), folder.path()), "--run-dir", folder.path(),
            "--fp64"},
        folder.path());
    const int status = ranks.wait(200s)[0];
    if (status == 127 || ranks.log(0).find("error while loading shared libraries") != std::string::npos)
        GTEST_SKIP() << "needs the libraries of a computer with a GPU: " << ranks.log(0);
    ASSERT_EQ(status, 0) << ranks.log(0);
    const Dump cuda_program = read_dump(folder.path(), 0);
    const JobResult cpu_program = run_job(tiny_plan(tokens), folder.path() / "cpu", {"--fp64"});
    ASSERT_EQ(cpu_program.problem, "");
    EXPECT_EQ(compare({cuda_program}, cpu_program.dumps[0]).gradient, 0);
}

// In bf16 with fp32 master weights the loss follows that of fp32; with CP the scores go through FlashAttention.
TEST(CudaTrainer, Bf16FollowsFp32)
{
    if (!gpu_here())
        GTEST_SKIP() << kNoGpu;
    const TemporaryFolder folder;
    const auto tokens = write_tokens(folder.path());
    const auto losses = [&](const char* name, const std::vector<std::string>& assignments) {
        const JobResult result = run_job(tiny_plan(tokens, assignments), folder.path() / name, {"--gpu"});
        EXPECT_EQ(result.problem, "") << name;
        return result.problem.empty() ? result.dumps[0].losses : std::vector<double>();
    };
    const std::vector<std::string> bf16{"training.precision=\"bf16\"", "model.hidden_size=128"};
    const auto exact = losses("fp32", {"training.precision=\"fp32\"", "model.hidden_size=128"});
    const auto one = losses("bf16", bf16);
    const auto ring = losses("bf16-cp2", joined(bf16, {"gpus=2", "layout.cp=2"}));
    ASSERT_FALSE(exact.empty());
    ASSERT_EQ(one.size(), exact.size());
    ASSERT_EQ(ring.size(), exact.size());
    for (std::size_t step = 0; step < exact.size(); ++step) {
        EXPECT_NEAR(one[step] / exact[step], 1, 0.02) << "step " << step;
        EXPECT_NEAR(ring[step] / exact[step], 1, 0.02) << "step " << step << ", two ranks of context parallelism";
    }
}

} // namespace
} // namespace fourfold::testing
