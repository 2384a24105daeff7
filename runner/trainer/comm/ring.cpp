// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/comm/ring.h"

#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <utility>

namespace fourfold::trainer {

namespace {
constexpr int kRingTag = 0x52; // apart from the tags of pipeline messages

class WithBuffers final : public Pending {
public:
    WithBuffers(std::unique_ptr<Pending> rounds, RingBuffers buffers)
        : buffers_(std::move(buffers))
        , rounds_(std::move(rounds))
    {
    }
    void wait() override
    {
        if (rounds_)
            rounds_->wait();
    }

private:
    RingBuffers buffers_;
    std::unique_ptr<Pending> rounds_;
};
} // namespace

std::unique_ptr<Pending> with_buffers(std::unique_ptr<Pending> rounds, RingBuffers buffers)
{
    return std::make_unique<WithBuffers>(std::move(rounds), std::move(buffers));
}

RingBuffers ring_buffers(const at::Tensor& out, const at::Tensor& in, int ranks)
{
    const int count = std::min(2, out.is_alias_of(in) ? ranks - 1 : ranks - 2);
    RingBuffers buffers;
    for (int i = 0; i < count; ++i)
        buffers.spare[i] = at::empty_like(out);
    return buffers;
}

// Part p starts at rank p + 1, travels up the ring, gathers every rank's share, and ends complete at rank p.
void ring_reduce_scatter(Transport& transport, const at::Tensor& out, const at::Tensor& in, const RingBuffers& buffers)
{
    const int size = transport.size(), rank = transport.rank();
    const int64_t rows = out.size(0);
    const bool in_place = out.is_alias_of(in); // then `out` is the own part, which is added last
    const auto part = [&](int index) { return in.narrow(0, ((index % size + size) % size) * rows, rows); };

    at::Tensor travelling = part(rank - 1);
    for (int round = 1; round < size; ++round) {
        // The last round ends in `out`; before, two buffers alternate, as one is still being sent.
        const bool last = round == size - 1;
        const at::Tensor arriving = last && !in_place ? out : buffers.spare[(round - 1) % 2];
        transport
            .exchange({{Transfer::Way::send, travelling, (rank + 1) % size, kRingTag},
                {Transfer::Way::receive, arriving, (rank + size - 1) % size, kRingTag}})
            ->wait();
        if (last && in_place)
            out.add_(arriving);
        else
            arriving.add_(part(rank - 1 - round));
        travelling = arriving;
    }
}

} // namespace fourfold::trainer
