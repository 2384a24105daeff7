// SPDX-License-Identifier: GPL-3.0-or-later
// Which pipeline stage holds which chunk of the model.
#pragma once

#include "core/plan/training.h"

#include <vector>

namespace fourfold {

inline constexpr int kMaxChunks = 1 << 13; // of a plan: pp x virtual_stages, whose schedule is simulated in seconds

// Chunk c lives on stage c % pp (the loop of Narayanan et al. 2021, arXiv:2104.04473 section 2.2); under zb-v the
// second half walks back, so that stage 0 holds first and last chunk (Qi et al. 2024, arXiv:2401.10241 section 6).
// A schedule file has a placement of its own: see core/schedule/plan_schedule.h.
int stage_of_chunk(Schedule schedule, int pp, int chunk);
// The stage of each of the pp * virtual_stages chunks.
std::vector<int> chunk_placement(Schedule schedule, int pp, int virtual_stages);

} // namespace fourfold
