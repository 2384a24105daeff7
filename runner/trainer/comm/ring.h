// SPDX-License-Identifier: GPL-3.0-or-later
// Reduce-scatter over point-to-point messages, for Gloo: its own is an all-reduce, which sends twice as much.
#pragma once

#include "runner/trainer/comm/transport.h"

namespace fourfold::trainer {

// Ring algorithm: size - 1 rounds, each rank sends (size - 1) / size of `in` in all. Blocks until done. As
// Transport::reduce_scatter also in place.
void ring_reduce_scatter(Transport& transport, const at::Tensor& out, const at::Tensor& in);

} // namespace fourfold::trainer
