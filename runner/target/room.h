// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a target can hold the ranks of a plan, as far as that is known before anything is started there.
#pragma once

#include "core/predict/prediction.h"
#include "runner/target/target.h"

namespace fourfold {

// Of this computer.
struct Room {
    double memory_gib = 0; // with swap; 0: not known
    bool gpus = false; // ranks keep their tensors there
};
Room room_here();

// A Problem where the ranks cannot all be there at once; it says how many can. `prediction`: of `plan`. Hosts over SSH
// and in Slurm's queue are looked at when they are reached.
Expected<void> check_room(
    const Target& target, const ResolvedPlan& plan, const Prediction& prediction, const Room& here);

} // namespace fourfold
