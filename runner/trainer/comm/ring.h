// SPDX-License-Identifier: GPL-3.0-or-later
// Reduce-scatter over point-to-point messages, for Gloo: its own is an all-reduce, which sends twice as much.
#pragma once

#include "runner/trainer/comm/transport.h"

namespace fourfold::trainer {

// What the rounds alternate between. Whoever starts them makes it: what they take, and when, does not depend on
// threads.
struct RingBuffers {
    at::Tensor spare[2]; // undefined: not needed
};
RingBuffers ring_buffers(const at::Tensor& out, const at::Tensor& in, int ranks);
// The rounds, which somebody makes elsewhere (null: nobody does), and their buffers for as long as the result lives.
std::unique_ptr<Pending> with_buffers(std::unique_ptr<Pending> rounds, RingBuffers buffers);

// Ring algorithm: size - 1 rounds, each rank sends (size - 1) / size of `in` in all. Blocks until done. As
// Transport::reduce_scatter also in place.
void ring_reduce_scatter(Transport& transport, const at::Tensor& out, const at::Tensor& in, const RingBuffers& buffers);

} // namespace fourfold::trainer
