// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/device/device_graph.h"

#include <ATen/core/Tensor.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <cuda_runtime.h>

namespace fourfold::trainer {

namespace {
class CudaGraph final : public DeviceGraph {
public:
    void replay() override { graph_.replay(); }
    at::cuda::CUDAGraph& graph() { return graph_; }

private:
    at::cuda::CUDAGraph graph_;
};

// All on one stream beside the computation's, on which the backward pass of what is recorded there runs as well; the
// replays go where the computation goes.
class CudaGraphRecorder final : public GraphRecorder {
public:
    // What LibTorch keeps for this stream alone (workspaces of products) stays; what the work took goes back, since
    // nobody else computes on the stream.
    void warm_up(const Work& work) override
    {
        c10::cuda::device_synchronize();
        {
            const c10::cuda::CUDAStreamGuard guard(stream_);
            (void)work();
        }
        c10::cuda::device_synchronize();
        c10::cuda::CUDACachingAllocator::emptyCache();
    }
    void begin_pool() override { pool_ = at::cuda::graph_pool_handle(); }
    Recorded record(Work work) override
    {
        auto made = std::make_unique<CudaGraph>();
        std::vector<at::Tensor> results;
        const c10::cuda::CUDAStreamGuard guard(stream_);
        // The threads of NCCL and of the data may go on: what they ask CUDA for is not part of this.
        made->graph().capture_begin(pool_, cudaStreamCaptureModeThreadLocal);
        try {
            results = work();
            made->graph().capture_end();
        } catch (...) {
            give_up(made->graph());
            throw;
        }
        return {std::move(made), std::move(results)};
    }

private:
    // Ends what is left of a recording: the stream's, and the allocator's, which an end that fails leaves open.
    void give_up(at::cuda::CUDAGraph& graph) const
    {
        try {
            graph.capture_end();
        } catch (const std::exception&) {
            cudaGraph_t nothing = nullptr;
            (void)cudaStreamEndCapture(stream_.stream(), &nothing);
            try {
                c10::cuda::CUDACachingAllocator::endAllocateToPool(c10::cuda::current_device(), pool_);
            } catch (const std::exception&) { // it was closed already
            }
        }
        (void)cudaGetLastError();
    }

    c10::cuda::CUDAStream stream_ = c10::cuda::getStreamFromPool();
    decltype(at::cuda::graph_pool_handle()) pool_{};
};
} // namespace

std::unique_ptr<GraphRecorder> gpu_graphs()
{
    return std::make_unique<CudaGraphRecorder>();
}

} // namespace fourfold::trainer
