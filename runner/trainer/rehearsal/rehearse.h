// SPDX-License-Identifier: GPL-3.0-or-later
// A rehearsal: the trainer's own code runs the plan for every rank that does something of its own, on tensors without
// values and wires that go nowhere. What the ranks asked for is then played against each other under NCCL's rules.
// Nothing is computed, no GPU and no other computer is needed.
#pragma once

#include "runner/trainer/rehearsal/rehearse_rank.h"

#include <functional>

namespace fourfold::trainer {

// The ranks that stand for all: up to `most` ranks each for itself; beyond that, of each pipeline stage, the corners of
// its tp x cp x dp mesh and the ends of the groups within these (of HSDP, of experts), so that of every group that one
// of them is in the first and the last member meet.
std::vector<int> ranks_to_rehearse(const ResolvedPlan& plan, int most);

// How far it came: ranks that are through, out of how many, and what most of them reserves at its peak.
struct RehearsalProgress {
    std::size_t rehearsed = 0, of = 0;
    double reserved_gib = 0;
};
Json to_json(const RehearsalProgress& progress); // {"rehearsed", "of", "reserved_gib"}

struct RehearsalSettings {
    bool timeline = false;
    double expert_imbalance = 0; // as in RankSettings
    std::function<void(const RehearsalProgress&)> told = {}; // when it begins, and after each rank
};

// {"fourfold_rehearsal": 1, "ranks", "rehearsed", "steps", "verdict": "ok" or "failed", "fits", "deadlock" (ranks wait
//  for each other for ever, or disagree on what they do together), "problem" (null or one line), "problems" (all),
//  "at_once" (operations that must be able to wait at the same time; null where no number helps), "step_time_s" (null
//  with a deadlock), "capacity_gib" (that tensors may take; null: not known), "stages": [{"pp", "rank",
//  "peak_tensors_gib", "peak_allocated_gib", "reserved_gib", "step_flops", "launches", "host_copies", "host_waits",
//  "operations", "traffic": [{"group", "operation", "count", "bytes"}]}], "wall_s"}, and "timeline" where it is asked
// for and there is one: chrome_trace() of the second step, a track for the first rank of each stage.
Expected<Json> rehearse(const ResolvedPlan& plan, const RehearsalSettings& settings = {});

} // namespace fourfold::trainer
