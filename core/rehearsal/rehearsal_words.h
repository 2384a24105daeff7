// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks, passes and operations of a rehearsal in words: what its verdict and its culprits are told in.
#pragma once

#include "core/rehearsal/rank_program.h"

namespace fourfold {

std::string rank_words(const RankProgram& program); // "rank 3 (tp 1, cp 0, pp 1, dp 0)"
std::string pass_words(const Action& action); // "backward of micro-batch 3, chunk 1"
// "operation 12 in the forward of micro-batch 0, chunk 0: all_reduce on tp/0"
std::string operation_words(const RankProgram& program, int operation);
std::string shape_words(const WireOperation& asked); // "all_reduce (sum) of 64 Float"

} // namespace fourfold
