// SPDX-License-Identifier: GPL-3.0-or-later
// Experts that take a limited number of tokens (GShard, arXiv:2006.16668, section 2.2; Switch Transformers,
// arXiv:2101.03961, section 2.2): first come, first served, by the token's place in the sequence.
#pragma once

#include <ATen/core/Tensor.h>

namespace fourfold::trainer {

// experts: [positions, sequences, active] -> whether each choice has a place: an expert has ceil(capacity x positions x
// active / count) of them in each sequence.
at::Tensor have_places(const at::Tensor& experts, int count, double capacity);

} // namespace fourfold::trainer
