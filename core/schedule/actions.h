// SPDX-License-Identifier: GPL-3.0-or-later
// What a pipeline rank does, one action after the other. The planner simulates these lists; the trainer executes them.
#pragma once

#include <vector>

namespace fourfold {

// `backward` is the whole backward. Schedules that split it (Qi et al. 2023, arXiv:2401.10241, section 2) have an
// `input_gradient` (B of the paper) and a later `weight_gradient` (W) in its place.
enum class ActionKind { forward, backward, weight_gradient, input_gradient };

struct Action {
    ActionKind kind = ActionKind::forward;
    int micro_batch = 0;
    int chunk = 0; // model chunk [0, pp * virtual_stages); its stage: core/schedule/schedules.h
    bool operator==(const Action&) const = default;
};

// Seconds of one chunk and one micro-batch.
struct ChunkTimes {
    double forward_s = 0, backward_s = 0; // the whole backward
    double weight_gradient_s = 0; // the part of backward_s that a schedule may move
};
// What an action of a chunk takes.
double duration_of(ActionKind kind, const ChunkTimes& times);

} // namespace fourfold
