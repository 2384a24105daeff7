// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of each stage: its allocations replayed along its action list. How many micro-batches are in flight is not a
// formula here but what the schedule does.
#pragma once

#include "core/memory/walk.h"
#include "core/program/operation.h"
#include "core/schedule/actions.h"

#include <vector>

namespace fourfold {

// Micro-batches of a chunk that hold memory: whole, and between their input gradient and their weight gradient.
struct HeldMicroBatches {
    int chunk = 0, whole = 0, waiting = 0;
};

struct MemoryPeak {
    Instant instant = Instant::between; // of the peak
    int chunk = -1; // that runs then; -1: the update
    std::vector<HeldMicroBatches> held; // then, by chunk of the stage
    KindBytes bytes{}; // at the stage's peak
    int in_flight = 0; // most micro-batches (of any chunk) whose backward is not complete, at once
    [[nodiscard]] double total() const;
};

// `actions` of the stage's rank. The peak is the largest total over the instants forward, loss, backward and update.
// `also_held`: micro-batches that are not among the actions, but are kept by every chunk until the update.
MemoryPeak replay_memory(const StageProgram& stage, const std::vector<Action>& actions, int also_held = 0);

// The stage's bytes while an action runs and after it (of a loss and its backward, one pass, the larger); the last one,
// without an action, is the optimizer's update.
struct MemoryInstant {
    int action = -1; // index into the list; -1: the update
    Instant kind = Instant::update;
    KindBytes during{}, after{};
};
std::vector<MemoryInstant> replay_instants(const StageProgram& stage, const std::vector<Action>& actions);

// What the device holds beyond the framework's allocator, in GiB: context, and buffers of every communicator with more
// than one rank. `constants`: of the plan's stack on its GPU, looked up already.
double device_overhead_gib(const ResolvedPlan& plan);
double device_overhead_gib(const ResolvedPlan& plan, const Constants& constants);

} // namespace fourfold
