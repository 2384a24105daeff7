// SPDX-License-Identifier: GPL-3.0-or-later
// The wire of one group of ranks. Ranks are numbered within the group. Failures (a peer gone, a time-out) are thrown as
// std::exception: they must cross LibTorch's autograd engine, and are caught once, at the end of the training loop.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

namespace fourfold::trainer {

enum class Reduce { sum, max };

// An operation under way. Its tensors must stay alive and untouched until wait() returned.
class Pending {
public:
    virtual ~Pending() = default;
    virtual void wait() = 0;
};

class Transport {
public:
    virtual ~Transport() = default;

    // In place; every rank of the group ends with the same bits.
    virtual std::unique_ptr<Pending> all_reduce(const at::Tensor& tensor, Reduce reduce) = 0;
    // out: size() times `in` along dimension 0, in rank order. Contiguous tensors.
    virtual std::unique_ptr<Pending> all_gather(const at::Tensor& out, const at::Tensor& in) = 0;
    // out: this rank's part (1/size() along dimension 0) of the sum of all ranks' `in`. Contiguous tensors.
    virtual std::unique_ptr<Pending> reduce_scatter(const at::Tensor& out, const at::Tensor& in) = 0;
    // Point to point. Both sides issue their sends and receives before they wait for any.
    virtual std::unique_ptr<Pending> send(const at::Tensor& tensor, int peer, int tag) = 0;
    virtual std::unique_ptr<Pending> receive(const at::Tensor& tensor, int peer, int tag) = 0;

    [[nodiscard]] virtual int rank() const = 0;
    [[nodiscard]] virtual int size() const = 0;
};

} // namespace fourfold::trainer
