// SPDX-License-Identifier: GPL-3.0-or-later
// A rehearsal: the trainer's own code runs the plan for every rank that does something of its own, on tensors without
// values and wires that go nowhere. What the ranks asked for is then played against each other under NCCL's rules.
// Nothing is computed, no GPU and no other computer is needed.
#pragma once

#include "runner/trainer/rehearsal/rehearse_rank.h"

namespace fourfold::trainer {

// The ranks that stand for all: up to `most` ranks each for itself; beyond that, of each pipeline stage, the corners of
// its tp x cp x dp mesh, so that of every group the first and the last member meet.
std::vector<int> ranks_to_rehearse(const ResolvedPlan& plan, int most);

// {"fourfold_rehearsal": 1, "ranks", "rehearsed", "steps", "verdict": "ok" or "failed", "problem" (null or one line),
//  "at_once" (operations that must be able to wait at the same time; null where no number helps), "stages": [{"pp",
//  "rank", "peak_tensors_gib", "peak_allocated_gib", "reserved_gib", "step_flops", "operations",
//  "traffic": [{"group", "operation", "count", "bytes"}]}], "wall_s"}
Expected<Json> rehearse(const ResolvedPlan& plan);

} // namespace fourfold::trainer
