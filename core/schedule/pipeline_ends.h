// SPDX-License-Identifier: GPL-3.0-or-later
// How long a pipeline takes, by formula, where stages differ: the length of the longest path through the schedule's
// graph, found without walking the graph. Exact where it answers; tests hold it to the simulation.
#pragma once

#include "core/schedule/schedules.h"

#include <span>
#include <vector>

namespace fourfold {

// Neighbouring stages that take equally long for a micro-batch.
struct StageRun {
    int stages = 1;
    double forward_s = 0, backward_s = 0; // without receiving
};

// True where PipelineEnds has a formula: one stage, GPipe and 1F1B.
bool has_pipeline_formula(Schedule schedule, int stages, int virtual_stages);

// When the first stage of each run ends its last backward; the first of the pipeline ends last.
//
// GPipe is two flow shops, one after the other: sum f + (m - 1) max f, then the same of the backwards.
//
// 1F1B. With w_i = p - 1 - i, t = f + b and every hop counted to the stage that receives,
// every cycle of the graph between stages i and j advances j - i + 1 micro-batches and takes the sum of their t, so
// that none is slower than staying on its slowest stage. Hence a longest path comes to some stage j, stays there and
// leaves:
//   start_j = max over l >= j of  sum f(0..l) + w_l max f(0..l) + sum b(j..l)      until the first backward of j ends
//   stay_j  = (m - 2 - w_j) t_j + f_j                                            until its last forward ends
//   leave_j = max over l >= max(j, s) of  sum f(j+1..l) + sum b(s..l) + w_l max b(s..l)    until stage s ends
//   end_s   = max over j >= p - m of start_j + stay_j + leave_j
// Stages before p - m do all forwards before any backward: paths only pass through them.
// All are linear within a run, so only its first and last stage are looked at.
class PipelineEnds {
public:
    // Precondition: has_pipeline_formula(). Valid until the next call, for which it keeps its memory.
    std::span<const double> operator()(
        Schedule schedule, std::span<const StageRun> runs, int micro_batches, double hop_s);

private:
    // The first or last stage of a run, with what lies before it.
    struct Point {
        int stage = 0;
        bool first_of_run = false;
        double forward = 0, backward = 0; // its own, with receiving
        double forwards = 0, backwards = 0; // sums over the stages up to it, itself included
        double slowest_forward = 0; // of those
    };
    void add_point(int stage, bool first, double forward, double backward, int stages_since);
    void find_points(std::span<const StageRun> runs, int stages, int split, double hop);
    void find_gpipe_ends(int micro_batches);
    void find_1f1b_ends(int stages, int micro_batches);

    std::vector<Point> points_;
    std::vector<double> last_forward_; // of points: when the stage ends its last forward
    std::vector<double> ends_;
};

} // namespace fourfold
