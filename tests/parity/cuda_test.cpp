// SPDX-License-Identifier: GPL-3.0-or-later
// The CUDA trainer. Where there is no GPU only its refusal can be tested; the rest is skipped and says so.
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fourfold::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

bool gpu_here()
{
    return std::filesystem::exists("/dev/nvidia0");
}

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
        GTEST_SKIP() << "the CUDA libraries are not complete here: " << outcome.log;
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
        GTEST_SKIP() << "the CUDA libraries are not complete here: " << outcome.log;
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.log, HasSubstr("NCCL needs a GPU for each rank"));
}

TEST(CudaTrainer, OneRankOnAGpuFollowsTheCpu)
{
    if (!gpu_here())
        GTEST_SKIP() << "no GPU on this computer (/dev/nvidia0): the CUDA trainer is compiled and linked only";
    const auto gpu = train_one_rank(cuda_trainer_program(), "nccl"), cpu = train_one_rank(trainer_program(), "gloo");
    ASSERT_EQ(gpu.status, 0) << gpu.log;
    ASSERT_EQ(gpu.events.size(), cpu.events.size());
    for (std::size_t i = 0; i < gpu.events.size(); ++i)
        if (gpu.events[i]["event"] == "step") {
            EXPECT_NEAR(gpu.events[i]["loss"].get<double>(), cpu.events[i]["loss"].get<double>(), 1e-3);
        }
}

} // namespace
} // namespace fourfold::testing
