// SPDX-License-Identifier: GPL-3.0-or-later
// Initial weights as a function of (seed, parameter name, position in the full tensor): every mesh starts from the same
// weights, and a rank makes only what it keeps. Values have the precision of fp32 whatever they are stored in, and the
// same bits on every CPU.
#pragma once

#include "runner/trainer/model/shard.h"

#include <cstdint>
#include <span>

namespace fourfold::trainer {

// Writes elements [first, first + out.size()) of the shard's values, row-major. Rows of vocabulary padding are zero.
// Number: float or double.
template <typename Number>
void fill_initial_values(const Shard& shard, uint64_t seed, int64_t first, std::span<Number> out);

} // namespace fourfold::trainer
