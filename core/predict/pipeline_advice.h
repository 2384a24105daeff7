// SPDX-License-Identifier: GPL-3.0-or-later
// What a person should know about a plan's pipeline before running it: too few micro-batches, stages that the stack
// would not make.
#pragma once

#include "core/plan/plan.h"

#include <string>
#include <vector>

namespace fourfold {

// The rule of thumb k ~ 3 p (Kempner Institute, CS 2281, lecture 8): with three micro-batches per stage a plain
// pipeline idles about p / (p + 3 p) = 1/4 of the time.
inline constexpr int kAdvisedMicroBatchesPerStage = 3;

// A pipeline that idles more than this gets the advice of three micro-batches a stage (core/schedule/closed_form.h).
inline constexpr double kLargeBubble = 0.25;

// What the plan's stack stops at though it breaks no rule of the plan language: stages of unequal size, a pipeline that
// is never full. Part of pipeline_advice(); stack_stops() says whether there is any, without its words.
std::vector<std::string> stack_stop_words(const ResolvedPlan& plan);
bool stack_stops(const ResolvedPlan& plan);

// `bubble_fraction`: idle share of the busiest stage while the pipeline runs; 0 where it is not known.
std::vector<std::string> pipeline_advice(const ResolvedPlan& plan, double bubble_fraction);

} // namespace fourfold
