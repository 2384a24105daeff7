// SPDX-License-Identifier: GPL-3.0-or-later
// Schedules that put weight gradients where a pipeline would idle: Qi, Wan, Huang and Lin, "Zero Bubble Pipeline
// Parallelism", arXiv:2401.10241.
#pragma once

#include "core/schedule/actions.h"

namespace fourfold {

// Section 2.3, figure 3 (ZB-H1): the order of 1F1B, with the weight gradient of a micro-batch `stage` micro-batches
// after its input gradient. Every stage then holds at most pp micro-batches, 1F1B's memory, and with equal stages
// idles (pp - 1) (T_F + T_B - T_W) instead of (pp - 1) (T_F + T_B + T_W).
std::vector<Action> zb_h1_actions(int stage, int pp, int micro_batches);

// Section 6 (ZB-V): two chunks a stage, placed as a V. Stage 0 holds first and last chunk, so that the first backward
// starts where the first forward did. With T_F = T_B = T_W and at least 2 pp - 1 micro-batches the step takes only
// (pp - 1) T_F, the way down the V, longer than the work, in 1F1B's memory (2 pp chunks of half a stage).
std::vector<Action> zb_v_actions(int stage, int pp, int micro_batches);

} // namespace fourfold
