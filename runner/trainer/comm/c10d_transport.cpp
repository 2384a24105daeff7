// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/comm/c10d_transport.h"

#include "runner/trainer/comm/direct.h"
#include "runner/trainer/comm/gloo_loop.h"
#include "runner/trainer/comm/ring.h"
#include "runner/trainer/comm/worker.h"
#include "runner/trainer/device/device.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace fourfold::trainer {

namespace {
class C10dPending final : public Pending {
public:
    C10dPending(c10::intrusive_ptr<c10d::Work> work, at::Tensor kept)
        : work_(std::move(work))
        , kept_(std::move(kept))
    {
    }
    void wait() override
    {
        if (work_) // NCCL gives none for the parts of a group of operations
            work_->wait();
    }

private:
    c10::intrusive_ptr<c10d::Work> work_;
    at::Tensor kept_; // Gloo's sends do not own their buffer
};

// A received message on its way from pinned memory to the GPU.
class Unstaged final : public Pending {
public:
    Unstaged(std::unique_ptr<Pending> receiving, at::Tensor target, at::Tensor wire)
        : receiving_(std::move(receiving))
        , target_(std::move(target))
        , wire_(std::move(wire))
    {
    }
    void wait() override
    {
        receiving_->wait();
        target_.copy_(wire_);
    }

private:
    std::unique_ptr<Pending> receiving_;
    at::Tensor target_, wire_;
};

class Together final : public Pending {
public:
    void add(std::unique_ptr<Pending> part) { parts_.push_back(std::move(part)); }
    void wait() override
    {
        for (const auto& part : parts_)
            part->wait();
    }

private:
    std::vector<std::unique_ptr<Pending>> parts_;
};

class C10dTransport final : public Transport {
public:
    C10dTransport(c10::intrusive_ptr<c10d::Backend> backend, bool gloo)
        : backend_(std::move(backend))
        , gloo_(gloo)
    {
    }

    std::unique_ptr<Pending> all_reduce(const at::Tensor& tensor, Reduce reduce) override
    {
        if (gloo_ && all_reduces_directly(size(), tensor.nbytes()))
            return direct_all_reduce(*this, tensor, reduce, next_tag());
        std::vector<at::Tensor> tensors{tensor};
        c10d::AllreduceOptions options;
        options.reduceOp = reduce == Reduce::max ? c10d::ReduceOp::MAX : c10d::ReduceOp::SUM;
        return pending(backend_->allreduce(tensors, options), tensor);
    }
    std::unique_ptr<Pending> all_gather(const at::Tensor& out, const at::Tensor& in) override
    {
        if (gloo_ && all_gathers_directly(size()))
            return direct_all_gather(*this, out, in, next_tag());
        at::Tensor output = out, input = in;
        return pending(backend_->_allgather_base(output, input), in);
    }
    std::unique_ptr<Pending> reduce_scatter(const at::Tensor& out, const at::Tensor& in) override
    {
        if (gloo_ && reduce_scatters_directly(size(), in.nbytes()))
            return direct_reduce_scatter(*this, out, in, next_tag());
        if (gloo_) {
            const RingBuffers buffers = ring_buffers(out, in, size());
            return with_buffers(
                worker_.run([this, out, in, buffers] { ring_reduce_scatter(*this, out, in, buffers); }), buffers);
        }
        at::Tensor output = out, input = in;
        return pending(backend_->_reduce_scatter_base(output, input), in);
    }
    std::unique_ptr<Pending> exchange(const std::vector<Transfer>& transfers) override
    {
        auto together = std::make_unique<Together>();
        if (!gloo_)
            backend_->startCoalescing();
        for (const Transfer& transfer : transfers)
            together->add(start(transfer));
        if (!gloo_)
            together->add(pending(backend_->endCoalescing(), {}));
        return together;
    }
    void connect(Transfer::Way way, int peer) override
    {
        if (gloo_) // its members are connected from the start
            return;
        const at::Tensor nothing = at::zeros({1}, at::TensorOptions().dtype(at::kByte).device(at::kCUDA));
        exchange({{way, nothing, peer, 0}})->wait();
        synchronize_gpu();
    }
    [[nodiscard]] int rank() const override { return backend_->getRank(); }
    [[nodiscard]] int size() const override { return backend_->getSize(); }

private:
    // Every rank of the group issues its collectives in one order, so that the numbers match. Apart from all other
    // tags.
    int next_tag() { return (1 << 20) + 2 * (sequence_++ % (1 << 16)); }

    static std::unique_ptr<Pending> pending(c10::intrusive_ptr<c10d::Work> work, const at::Tensor& kept)
    {
        return std::make_unique<C10dPending>(std::move(work), kept);
    }

    // Gloo reads and writes the host's memory: messages of a GPU pass through pinned memory.
    std::unique_ptr<Pending> start(const Transfer& transfer)
    {
        const bool staged = gloo_ && transfer.tensor.is_cuda();
        const bool sends = transfer.way == Transfer::Way::send;
        const at::Tensor wire = staged
            ? at::empty(transfer.tensor.sizes(), transfer.tensor.options().device(at::kCPU).pinned_memory(true))
            : transfer.tensor;
        if (staged && sends)
            wire.copy_(transfer.tensor);
        std::vector<at::Tensor> tensors{wire};
        if (sends)
            return pending(backend_->send(tensors, transfer.peer, transfer.tag), wire);
        auto receiving = pending(backend_->recv(tensors, transfer.peer, transfer.tag), wire);
        return staged ? std::make_unique<Unstaged>(std::move(receiving), transfer.tensor, wire) : std::move(receiving);
    }

    c10::intrusive_ptr<c10d::Backend> backend_;
    bool gloo_;
    int sequence_ = 0;
    Worker worker_; // last member: it ends before what its tasks use
};

c10::intrusive_ptr<c10d::Backend> make_gloo(
    const c10::intrusive_ptr<c10d::Store>& store, const TransportOptions& wanted)
{
    (void)given_up_cores();
    auto options = c10d::ProcessGroupGloo::Options::create(
        std::chrono::milliseconds(static_cast<int64_t>(wanted.timeout_s * 1000)));
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(wanted.address));
    options->threads = 1; // a group's operations are few and in order: more threads only compete for the cores
    return c10::make_intrusive<c10d::ProcessGroupGloo>(store, wanted.rank, wanted.size, options);
}
} // namespace

std::shared_ptr<Transport> make_c10d_transport(c10d::Store* store, const TransportOptions& options)
{
    const auto own = c10::intrusive_ptr<c10d::Store>::reclaim_copy(store);
    const c10::intrusive_ptr<c10d::Store> prefixed = c10::make_intrusive<c10d::PrefixStore>(options.name, own);
    const bool gloo = options.backend != "nccl";
    auto backend = gloo ? make_gloo(prefixed, options)
                        : c10::intrusive_ptr<c10d::Backend>::reclaim(make_nccl_backend(prefixed.get(), options));
    return std::make_shared<C10dTransport>(std::move(backend), gloo);
}

} // namespace fourfold::trainer
