// SPDX-License-Identifier: GPL-3.0-or-later
// A stream of a GPU beside the one that computes: copies between the memories of GPU and host run there meanwhile.
#pragma once

#include <memory>

namespace at {
class Tensor;
}

namespace fourfold::trainer {

class SideStream {
public:
    using Mark = std::shared_ptr<void>; // a point in the stream's work

    virtual ~SideStream() = default;
    // Copies that are asked for from here on begin when the GPU has done what it was asked to compute so far.
    virtual void follow() = 0;
    // Returns at once. Both must live, and not change, until the copy is through; the host's side should be pinned.
    virtual void copy(const at::Tensor& from, const at::Tensor& to) = 0;
    virtual Mark mark() = 0; // behind all copies so far
    virtual void gpu_waits(const Mark& mark) = 0; // with what it is asked to compute from here on
    virtual void host_waits(const Mark& mark) = 0;
};

// Of the current GPU. Throws in the CPU trainer.
std::unique_ptr<SideStream> gpu_side_stream();

} // namespace fourfold::trainer
