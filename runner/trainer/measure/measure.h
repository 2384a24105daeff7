// SPDX-License-Identifier: GPL-3.0-or-later
// How fast a job's ranks are at what the cost model prices. In place of training: FOURFOLD_MEASURE (start_up.h).
#pragma once

#include "core/plan/plan.h"
#include "runner/trainer/choose_device.h"
#include "runner/trainer/comm/rendezvous.h"
#include "runner/trainer/job.h"
#include "runner/trainer/metrics/event_writer.h"

namespace fourfold::trainer {

// Rank 0 writes what it measured as events `measured`, each with `what`:
//   "product"     m, n, k, form ("forward", "input_gradient", "weight_gradient"), ranks, threads, seconds
//   "pass"        an elementwise sum: bytes (two reads and a write), ranks, threads, seconds
//   "attention"   causal, forward: queries, head_dim, batch (sequences x heads), ranks, threads, seconds
//   "launch"      one operation on one element: ranks, threads, seconds
//   "collective"  kind, group (ranks), groups (that do it at the same time), nodes (of a group), bytes, seconds
//   "step"        plan (in full), threads, steps, step_time_s
//   "pace"        of one product again and again between all of these: first, fastest, slowest, spread (over the
//                 median): a machine whose clocks change
// `ranks`: that do it at the same time. Collective; takes less than a minute where a step of the plan takes seconds.
Expected<void> measure(
    const Job& job, const ResolvedPlan& plan, const Device& device, Rendezvous& rendezvous, int threads);

} // namespace fourfold::trainer
