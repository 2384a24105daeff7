// SPDX-License-Identifier: GPL-3.0-or-later
// Collectives over point-to-point messages, for Gloo in small groups: every rank sends to every other one at once.
// Gloo's own go round a ring on a thread of its own: where ranks share cores, its size - 1 wake-ups cost more than the
// bytes. The bytes are the same. What can be summed is summed in the order of the ranks.
#pragma once

#include "runner/trainer/comm/transport.h"

namespace fourfold::trainer {

// Whether they are made so; else Gloo makes them itself, on its thread, beside the backward pass.
bool all_reduces_directly(int ranks, std::size_t bytes);
bool all_gathers_directly(int ranks);
bool reduce_scatters_directly(int ranks, std::size_t bytes);

// Messages leave when these return; wait() on the result adds up what arrived. `tag`: no other operation under way
// between two ranks of the group has it, nor the next number.
std::unique_ptr<Pending> direct_all_gather(Transport& transport, const at::Tensor& out, const at::Tensor& in, int tag);
// As Transport::reduce_scatter, also in place.
std::unique_ptr<Pending> direct_reduce_scatter(
    Transport& transport, const at::Tensor& out, const at::Tensor& in, int tag);
// In place. Few elements go whole to everybody; more of them in two rounds, of which the second is in wait().
std::unique_ptr<Pending> direct_all_reduce(Transport& transport, const at::Tensor& tensor, Reduce reduce, int tag);

} // namespace fourfold::trainer
