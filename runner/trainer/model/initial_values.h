// SPDX-License-Identifier: GPL-3.0-or-later
// Initial weights as a function of (seed, parameter name, position in the full tensor): every mesh starts from the same
// weights, and a rank makes only its own part.
#pragma once

#include "runner/trainer/model/shard.h"

#include <cstdint>
#include <vector>

namespace fourfold::trainer {

// The shard's values, row-major. Rows of vocabulary padding are zero.
std::vector<double> initial_values(const Shard& shard, uint64_t seed);

} // namespace fourfold::trainer
