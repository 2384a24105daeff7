// SPDX-License-Identifier: GPL-3.0-or-later
// What the ranks of a job run on: what the plan is for, or what the job names, never something else.
#include "runner/trainer/choose_device.h"

#include <gtest/gtest.h>

namespace fourfold::trainer {
namespace {

// Two hosts with two ranks each; every process sees these GPUs.
std::vector<Json> ranks_that_see(const std::vector<std::vector<std::string>>& ids)
{
    std::vector<Json> hosts;
    for (std::size_t rank = 0; rank < ids.size(); ++rank) {
        hosts.push_back(gpu_claim(static_cast<int>(rank % 2), ids[rank]));
        hosts.back()["host"] = "node" + std::to_string(rank / 2 + 1);
    }
    return hosts;
}

class ChooseDevice : public testing::Test {
protected:
    void SetUp() override
    {
        on_cpus.cluster.gpu.id = "cpu";
        on_gpus.cluster.gpu.id = "h100-80gb-sxm";
    }
    Job rank(int number, const std::string& backend = {})
    {
        Job job;
        job.rank = number;
        job.world_size = 4;
        job.local_rank = number % 2;
        job.backend = backend;
        return job;
    }
    // As the ranks of a job come to it: rank 0 checks, each takes its own.
    static Expected<Device> chosen(const Job& job, const ResolvedPlan& plan, const std::vector<Json>& hosts)
    {
        FOURFOLD_CHECK(check_devices(job, plan, hosts));
        return choose_device(job, plan, hosts[std::size_t(job.rank)]);
    }
    ResolvedPlan on_cpus, on_gpus;
    const std::vector<Json> whole = ranks_that_see({{"a", "b"}, {"a", "b"}, {"c", "d"}, {"c", "d"}});
    const std::vector<Json> single = ranks_that_see({{"a"}, {"b"}, {"c"}, {"d"}});
    const std::vector<Json> none = ranks_that_see({{}, {}, {}, {}});
};

TEST_F(ChooseDevice, ThePlansHardware)
{
    for (int number = 0; number < 4; ++number) {
        const auto device = chosen(rank(number), on_gpus, whole);
        ASSERT_TRUE(device) << device.error().line();
        EXPECT_TRUE(device->cuda);
        EXPECT_EQ(device->backend, "nccl");
        EXPECT_EQ(device->gpu, number % 2);
        EXPECT_FALSE(chosen(rank(number), on_cpus, whole)->cuda) << "GPUs that nobody planned for";
        EXPECT_EQ(chosen(rank(number), on_cpus, none)->backend, "gloo");
    }
}

TEST_F(ChooseDevice, EachRankMayBeShownOneGpu)
{
    for (int number = 0; number < 4; ++number) {
        const auto device = chosen(rank(number), on_gpus, single);
        ASSERT_TRUE(device) << device.error().line();
        EXPECT_TRUE(device->cuda);
        EXPECT_EQ(device->gpu, 0);
    }
}

TEST_F(ChooseDevice, NeverTheCpuInThePlaceOfAGpu)
{
    for (const auto& job : {rank(0), rank(0, "nccl")}) {
        const auto refused = chosen(job, on_gpus, none);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().message, "rank 0 on node1 has no GPU, and the job runs on GPUs");
    }
    const auto one_short = chosen(rank(0), on_gpus, ranks_that_see({{"a", "b"}, {"a", "b"}, {"c", "d"}, {}}));
    ASSERT_FALSE(one_short);
    EXPECT_EQ(one_short.error().message, "rank 3 on node2 has no GPU, and the job runs on GPUs");
    const auto by_name = chosen(rank(0, "gloo"), on_gpus, whole);
    ASSERT_TRUE(by_name);
    EXPECT_FALSE(by_name->cuda);
    EXPECT_FALSE(chosen(rank(0, "nccl"), on_cpus, none));
}

TEST_F(ChooseDevice, TwoRanksNeverShareAGpu)
{
    const auto refused = chosen(rank(3), on_gpus, ranks_that_see({{"a"}, {"b"}, {"c"}, {"c"}}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "rank 2 on node2 and rank 3 would share one GPU");
    EXPECT_TRUE(chosen(rank(3), on_gpus, ranks_that_see({{"", ""}, {"", ""}, {"", ""}, {"", ""}})))
        << "a driver that tells no ids";
}

TEST_F(ChooseDevice, MoreRanksThanGpus)
{
    EXPECT_FALSE(gpu_claim(2, {"a", "b"})["has_gpu"].get<bool>());
    EXPECT_EQ(gpu_claim(7, {"a"})["gpu_index"], 0) << "shown one each";
}

} // namespace
} // namespace fourfold::trainer
