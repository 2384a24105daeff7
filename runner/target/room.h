// SPDX-License-Identifier: GPL-3.0-or-later
// What the ranks of a plan run on at a target, and whether it can hold them, as far as that is known before anything is
// started there.
#pragma once

#include "core/predict/prediction.h"
#include "runner/target/target.h"

namespace fourfold {

// Of this computer.
struct Room {
    double memory_gib = 0; // with swap; 0: not known
    bool gpus = false; // of NVIDIA, with their driver
};
Room room_here();

// "nccl" (GPUs) or "gloo" (CPUs): the plan's hardware, or CPUs where the target's backend names gloo. A Problem where
// that would be something else than what was planned: no run measures a CPU in the place of a GPU unasked.
Expected<std::string> backend_of(const Target& target, const ResolvedPlan& plan, const Room& here);

// A Problem where there is nothing to run on (backend_of), or the ranks cannot all be there at once; it says how many
// can. `prediction`: of `plan`. Hosts over SSH and in Slurm's queue are looked at when they are reached.
Expected<void> check_room(
    const Target& target, const ResolvedPlan& plan, const Prediction& prediction, const Room& here);

} // namespace fourfold
