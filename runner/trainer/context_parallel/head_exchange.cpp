// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/context_parallel/head_exchange.h"

#include "runner/trainer/autograd/gradient_function.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>

namespace fourfold::trainer {

namespace {
constexpr int kTag = 3, kAlongPositions = 0, kAlongHeads = 2;

// Cuts `x` along a dimension, a part for each rank, and puts together along another what comes from all ranks.
at::Tensor exchanged(const at::Tensor& x, const Communicator& cp, int cut, int joined)
{
    const int64_t part = x.size(cut) / cp.size();
    std::vector<at::Tensor> parts;
    std::vector<Transfer> transfers;
    for (int rank = 0; rank < cp.size(); ++rank) {
        const at::Tensor leaving = x.narrow(cut, rank * part, part).contiguous();
        if (rank == cp.rank()) {
            parts.push_back(leaving);
            continue;
        }
        parts.push_back(at::empty_like(leaving));
        transfers.push_back({Transfer::Way::send, leaving, rank, kTag});
        transfers.push_back({Transfer::Way::receive, parts.back(), rank, kTag});
    }
    cp.start_exchange(transfers).wait();
    return at::cat(parts, joined);
}

class HeadExchange final : public GradientFunction {
public:
    HeadExchange(const Communicator& cp, bool to_heads)
        : cp_(cp)
        , to_heads_(to_heads)
    {
    }
    Tensors forward(const Tensors& inputs, Tensors&) override { return {turned(inputs[0], to_heads_)}; }
    Tensors backward(const Tensors& gradients, const Tensors&) override { return {turned(gradients[0], !to_heads_)}; }

private:
    [[nodiscard]] at::Tensor turned(const at::Tensor& x, bool to_heads) const
    {
        return to_heads ? exchanged(x, cp_, kAlongHeads, kAlongPositions)
                        : exchanged(x, cp_, kAlongPositions, kAlongHeads);
    }

    const Communicator& cp_;
    bool to_heads_;
};
} // namespace

at::Tensor to_heads(const at::Tensor& x, const Communicator& cp)
{
    return apply(std::make_shared<HeadExchange>(cp, true), {x})[0];
}

at::Tensor to_positions(const at::Tensor& x, const Communicator& cp)
{
    return apply(std::make_shared<HeadExchange>(cp, false), {x})[0];
}

} // namespace fourfold::trainer
