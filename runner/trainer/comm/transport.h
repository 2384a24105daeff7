// SPDX-License-Identifier: GPL-3.0-or-later
// The wire of one group of ranks. Ranks are numbered within the group. Failures (a peer gone, a time-out) are thrown as
// std::exception: they must cross LibTorch's autograd engine, and are caught once, at the end of the training loop.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

namespace fourfold::trainer {

enum class Reduce { sum, max };

// An operation under way. Its tensors must stay alive and untouched until wait() returned.
class Pending {
public:
    virtual ~Pending() = default;
    virtual void wait() = 0;
};

// One side of a message between two ranks of the group.
struct Transfer {
    enum class Way { send, receive };
    Way way = Way::send;
    at::Tensor tensor; // contiguous
    int peer = 0;
    int tag = 0; // tells apart what is under way between the same two ranks; NCCL goes by order alone
};

class Transport {
public:
    virtual ~Transport() = default;

    // In place; every rank of the group ends with the same bits.
    virtual std::unique_ptr<Pending> all_reduce(const at::Tensor& tensor, Reduce reduce) = 0;
    // out: size() times `in` along dimension 0, in rank order. Contiguous tensors.
    virtual std::unique_ptr<Pending> all_gather(const at::Tensor& out, const at::Tensor& in) = 0;
    // out: this rank's part (1/size() along dimension 0) of the sum of all ranks' `in`. Contiguous tensors;
    // `out` may be that part of `in` itself, the rest of which then holds what it did.
    virtual std::unique_ptr<Pending> reduce_scatter(const at::Tensor& out, const at::Tensor& in) = 0;
    // Point to point. A send may complete only when the peer receives: ranks that send to each other issue all their
    // transfers in one call, before they wait for any.
    virtual std::unique_ptr<Pending> exchange(const std::vector<Transfer>& transfers) = 0;
    // The same, of a payload of which this rank keeps `own_bytes` itself.
    virtual std::unique_ptr<Pending> all_to_all(const std::vector<Transfer>& transfers, int64_t /*own_bytes*/)
    {
        return exchange(transfers);
    }
    // Makes the connection of the messages this way, with the peer, which calls it too; it returns when that has. Left
    // to the first message, NCCL makes it there, and the host waits for the peer's first message: of ranks that ask for
    // what they will get before they send what it comes from, for ever.
    virtual void connect(Transfer::Way, int /*peer*/) { }

    [[nodiscard]] virtual int rank() const = 0;
    [[nodiscard]] virtual int size() const = 0;
};

} // namespace fourfold::trainer
