// SPDX-License-Identifier: GPL-3.0-or-later
// How long a pipeline takes by formula, where a formula is exact: equal chunks and free hops. The simulation needs no
// such assumption; these forms check it, explain it and serve where a thousand layouts are compared.
#pragma once

#include "core/schedule/timeline.h"

#include <optional>

namespace fourfold {

// Seconds from the first forward to the last action, with F = forward, B = whole backward, W = weight gradient of one
// chunk, p stages, v chunks a stage, m micro-batches:
//   gpipe, 1f1b   (m + p - 1) (F + B)          Huang et al. 2019, arXiv:1811.06965, section 2.3: idle (p - 1)/(m + p -
//   1) interleaved   (v m + p - 1) (F + B)        Narayanan et al. 2021, arXiv:2104.04473, section 2.2.2: 1/v of that
//   zb-h1         m (F + B) + (p - 1) (F + B - W) - min(m - 1, p - 1) W   for W <= min(F, B - W); from p micro-batches
//   on
//                 the bubble (p - 1)(T_F + T_B - T_W) of Qi et al. 2023, arXiv:2401.10241, table 2 (T_B = B - W)
//   zb-v          2 m (F + B) + max(p - 1, 4 (p - 1) - 2 (m - 1)) F   for F = B - W = W: same paper, section 6
// Empty for other schedules, other durations, and what the schedule does not allow.
std::optional<double> closed_form_length(
    Schedule schedule, int pp, int virtual_stages, int micro_batches, const ChunkTimes& chunk);

// Share of that time in which a stage idles.
std::optional<double> closed_form_idle_share(
    Schedule schedule, int pp, int virtual_stages, int micro_batches, const ChunkTimes& chunk);

// The rule of thumb k ~ 3 p (Kempner Institute, CS 2281, lecture 8): with three micro-batches a stage a plain pipeline
// idles about p / (p + 3 p) = 1/4 of the time.
inline constexpr int kAdvisedMicroBatchesPerStage = 3;

} // namespace fourfold
