// SPDX-License-Identifier: GPL-3.0-or-later
// How long a pipeline takes, by formula, where stages differ: the length of the longest path through the schedule's
// graph, found without walking the graph. Exact where it answers; tests hold it to the simulation.
#pragma once

#include "core/plan/training.h"

#include <optional>
#include <span>
#include <vector>

namespace fourfold {

// Neighbouring stages that take equally long for a micro-batch.
struct StageRun {
    int stages = 1;
    double forward_s = 0, backward_s = 0; // without receiving
};

// When the first stage of each run ends its last backward; the first of the pipeline ends last.
//
// GPipe is two flow shops, one after the other: sum f + (m - 1) max f, then the same of the backwards.
//
// 1F1B with m >= p micro-batches. With w_i = p - 1 - i, t = f + b and every hop counted to the stage that receives,
// every cycle of the graph between stages i and j advances j - i + 1 micro-batches and takes the sum of their t, so
// that none is slower than staying on its slowest stage. Hence a longest path comes to some stage j, stays there and
// leaves:
//   start_j = max over l >= j of  sum f(0..l) + w_l max f(0..l) + sum b(j..l)      until the first backward of j ends
//   stay_j  = (m - 2 - w_j) t_j + f_j                                            until its last forward ends
//   leave_j = max over l >= max(j, s) of  sum f(j+1..l) + sum b(s..l) + w_l max b(s..l)    until stage s ends
//   end_s   = max over j of start_j + stay_j + leave_j
// All are linear within a run, so only its first and last stage are looked at.
//
// Empty for other schedules, virtual stages, and 1F1B with fewer micro-batches than stages.
std::optional<std::vector<double>> pipeline_ends(
    Schedule schedule, std::span<const StageRun> runs, int micro_batches, double hop_s);

} // namespace fourfold
