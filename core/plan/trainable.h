// SPDX-License-Identifier: GPL-3.0-or-later
// What the plan language knows and fourfold-trainer does not run (yet). Asked before a run by everyone who starts one,
// and by the trainer itself.
#pragma once

#include "core/plan/plan.h"

#include <vector>

namespace fourfold {

// Empty: the trainer runs this plan, provided check() has no reasons either. Each reason names the field, what it holds
// and, where there is one, the nearest value that runs.
std::vector<Reason> trainer_limits(const ResolvedPlan& plan);

// The same of what a prediction is about: not of the data, length and checkpoints of a run, which it may be without.
std::vector<Reason> trainer_limits_of_prediction(const ResolvedPlan& plan);

// Whether the trainer is the plan's software.
bool is_of_trainer(const ResolvedPlan& plan);

// Makes it a plan of stack `fourfold`, whichever it is of: the trainer runs the same layout and settings. Whether it
// takes fused kernels is the plan's where it was written, and else not the other stack's.
Expected<void> hand_to_trainer(ResolvedPlan& plan, const Presets& presets);

// Whether it runs models of this family (Family::trainer_runs).
Expected<void> check_trainer_family(const ModelShape& model);

} // namespace fourfold
