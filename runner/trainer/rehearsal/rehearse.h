// SPDX-License-Identifier: GPL-3.0-or-later
// A rehearsal: the trainer's own code runs the plan for every rank that does something of its own, on tensors without
// values and wires that go nowhere. What the ranks asked for is then played against each other under NCCL's rules.
// Nothing is computed, no GPU and no other computer is needed.
#pragma once

#include "core/plan/plan.h"
#include "core/rehearsal/rank_program.h"
#include "runner/trainer/comm/flight_recorder.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fourfold::trainer {

// What one rank does in two steps, the first of which makes what the second finds.
struct RankRehearsal {
    RankProgram program; // of everything from the making of the weights to the end of the second step
    // Of the second step: payload bytes and number by group and operation, as FlightRecorder counts them.
    std::map<std::pair<std::string, std::string>, FlightRecorder::Total> traffic;
    double flops = 0; // of its matrix products and attention, forward and backward
    // Of tensors, at their most: bytes as asked for, as rounded, and what the caching allocator reserves for them.
    uint64_t requested = 0, allocated = 0, reserved = 0;
};
// `plan`: checked, and within trainer_limits(). A Problem (failed) where LibTorch refuses what the trainer asks for.
Expected<RankRehearsal> rehearse_rank(const ResolvedPlan& plan, int rank);

// The ranks that stand for all: up to `most` ranks each for itself; beyond that, of each pipeline stage, the corners of
// its tp x cp x dp mesh, so that of every group the first and the last member meet.
std::vector<int> ranks_to_rehearse(const ResolvedPlan& plan, int most);

// {"fourfold_rehearsal": 1, "ranks", "rehearsed", "steps", "verdict": "ok" or "failed", "problem" (null or one line),
//  "at_once" (operations that must be able to wait at the same time; null where no number helps), "stages": [{"pp",
//  "rank", "peak_tensors_gib", "peak_allocated_gib", "reserved_gib", "step_flops", "operations",
//  "traffic": [{"group", "operation", "count", "bytes"}]}], "wall_s"}
Expected<Json> rehearse(const ResolvedPlan& plan);

} // namespace fourfold::trainer
