// SPDX-License-Identifier: GPL-3.0-or-later
// A pipeline whose actions take a fixed time, whatever they compute: what is left of its step beside the simulated one
// is the executor's and the messages', also where ranks share cores or others use them.
#pragma once

#include "core/schedule/timeline.h"
#include "runner/trainer/trainer.h"

#include <string>
#include <utility>

namespace fourfold::testing {

class StretchedActions {
public:
    // Of a chunk: forward, input gradient and weight gradient take `part_s` seconds each.
    explicit StretchedActions(double part_s)
        : times_{part_s, 2 * part_s, part_s}
    {
    }
    // Computes the action, and sleeps until its time is over.
    Expected<at::Tensor> perform(const Action& action, const trainer::Compute& compute);

    // The largest share of its time that an action computed, in seconds of a core, since the last call.
    double take_most_computed() { return std::exchange(most_computed_, 0.0); }
    [[nodiscard]] const ChunkTimes& times() const { return times_; }

private:
    ChunkTimes times_;
    double most_computed_ = 0;
};

// Trains with `how`, its actions stretched, and writes {"step_s": [...], "simulated_s": S, "most_computed": [...]}, of
// each step, to `file`. `simulated_s`: the planner's, of the same lists with free hops.
Expected<void> train_stretched(const ResolvedPlan& plan, const trainer::Mesh& mesh, trainer::TrainerOptions how,
    double part_s, const std::string& file);

} // namespace fourfold::testing
