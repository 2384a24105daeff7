// SPDX-License-Identifier: GPL-3.0-or-later
// The all-to-all of DeepSpeed Ulysses (Jacobs et al. 2023, arXiv:2309.14509, section 3), with gradients: between a part
// of the sequence with all heads and the whole sequence with a part of the heads.
#pragma once

#include "runner/trainer/comm/communicator.h"

namespace fourfold::trainer {

// [s / cp, b, heads, head_dim] -> [s, b, heads / cp, head_dim]: rank r gets the r-th part of the heads. `cp` must
// outlive the backward pass; its size divides the heads.
at::Tensor to_heads(const at::Tensor& x, const Communicator& cp);
// And back.
at::Tensor to_positions(const at::Tensor& x, const Communicator& cp);

} // namespace fourfold::trainer
