// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/graph_stand_in.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>

#include <limits>
#include <utility>

namespace fourfold::testing {

namespace {
using Tensors = std::vector<at::Tensor>;
using Pool = std::vector<Tensors>; // results, in the order of the recordings

void spoil(const Tensors& tensors)
{
    const at::NoGradGuard no_graph;
    for (const at::Tensor& tensor : tensors)
        tensor.fill_(std::numeric_limits<double>::quiet_NaN());
}

class StandIn final : public trainer::DeviceGraph {
public:
    StandIn(trainer::GraphRecorder::Work work, std::shared_ptr<Pool> pool)
        : work_(std::move(work))
        , pool_(std::move(pool))
        , place_(pool_->size() - 1)
    {
    }
    void replay() override
    {
        for (std::size_t later = place_ + 1; later < pool_->size(); ++later)
            spoil((*pool_)[later]);
        const Tensors made = work_();
        const at::NoGradGuard no_graph;
        for (std::size_t i = 0; i < made.size(); ++i)
            (*pool_)[place_][i].copy_(made[i]);
    }

private:
    trainer::GraphRecorder::Work work_;
    std::shared_ptr<Pool> pool_;
    std::size_t place_;
};

class Recorder final : public trainer::GraphRecorder {
public:
    explicit Recorder(int refuses)
        : refuses_(refuses)
    {
    }
    void warm_up(const Work& work) override { (void)work(); }
    void begin_pool() override { pool_ = std::make_shared<Pool>(); }
    Recorded record(Work work) override
    {
        TORCH_CHECK(refuses_ < 0 || refuses_-- > 0, "operation not permitted when stream is capturing");
        Tensors results;
        for (const at::Tensor& made : work())
            results.push_back(made.clone());
        spoil(results);
        pool_->push_back(results);
        return {std::make_unique<StandIn>(std::move(work), pool_), std::move(results)};
    }

private:
    int refuses_;
    std::shared_ptr<Pool> pool_;
};
} // namespace

std::unique_ptr<trainer::GraphRecorder> graphs_on_cpu(int refuses)
{
    return std::make_unique<Recorder>(refuses);
}

} // namespace fourfold::testing
