// SPDX-License-Identifier: GPL-3.0-or-later
// Normal random numbers by position, as many at a time as a compiler makes vectors of.
#pragma once

#include <cstdint>
#include <span>

namespace fourfold::trainer {

// out[i]: standard normal number first + i of the stream; a pure function of (stream, first + i), the same bits on
// every CPU. Box and Muller's transform (1958) of 64 random bits for each two numbers: magnitudes up to 6.6.
void normal_numbers(uint64_t stream, uint64_t first, std::span<float> out);

} // namespace fourfold::trainer
