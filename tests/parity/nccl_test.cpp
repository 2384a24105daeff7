// SPDX-License-Identifier: GPL-3.0-or-later
// One rank through every operation of the transport over NCCL: what a collective of one rank gives back is what it got.
// Several ranks need several GPUs (runner/trainer/README.md has the commands).
#include "runner/trainer/comm/c10d_transport.h"
#include "runner/trainer/device/device.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/equal.h>

#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include <gtest/gtest.h>

namespace fourfold::trainer {
namespace {

class OneRank : public ::testing::TestWithParam<at::ScalarType> {
protected:
    void SetUp() override
    {
        if (gpu_ids().empty())
            GTEST_SKIP() << "no GPU that CUDA can use: NCCL is compiled and linked only";
        select_gpu(0);
        transport_ = make_c10d_transport(store_.get(), {"nccl", "all", 0, 1, "127.0.0.1", 30});
        values_ = at::arange(1024, at::TensorOptions(at::kCUDA).dtype(GetParam()));
    }
    c10::intrusive_ptr<c10d::Store> store_ = c10::make_intrusive<c10d::HashStore>();
    std::shared_ptr<Transport> transport_;
    at::Tensor values_;
};

TEST_P(OneRank, AllReduceKeepsItsValues)
{
    for (const Reduce reduce : {Reduce::sum, Reduce::max}) {
        const at::Tensor tensor = values_.clone();
        transport_->all_reduce(tensor, reduce)->wait();
        synchronize_gpu();
        EXPECT_TRUE(at::equal(tensor, values_));
    }
}

TEST_P(OneRank, GatherAndScatterCopy)
{
    const at::Tensor gathered = at::empty_like(values_), scattered = at::empty_like(values_);
    transport_->all_gather(gathered, values_)->wait();
    transport_->reduce_scatter(scattered, values_)->wait();
    synchronize_gpu();
    EXPECT_TRUE(at::equal(gathered, values_));
    EXPECT_TRUE(at::equal(scattered, values_));
}

TEST_P(OneRank, AMessageToItselfArrives)
{
    const at::Tensor arrived = at::empty_like(values_);
    transport_->exchange({{Transfer::Way::send, values_, 0, 0}, {Transfer::Way::receive, arrived, 0, 0}})->wait();
    synchronize_gpu();
    EXPECT_TRUE(at::equal(arrived, values_));
}

INSTANTIATE_TEST_SUITE_P(Types, OneRank, ::testing::Values(at::kFloat, at::kBFloat16, at::kLong),
    [](const auto& info) { return std::string(at::toString(info.param)); });

} // namespace
} // namespace fourfold::trainer
