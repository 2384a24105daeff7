// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of resolving a plan; front ends call resolve() and read_resolved() of plan.h.
#pragma once

#include "core/plan/plan.h"
#include "core/plan/presets.h"

namespace fourfold {

// Where ids come from. A file that to_json(inlined) wrote is trusted to carry the objects that belong to its ids; a
// person's file is not: an object that differs from the preset of its id loses the id.
enum class IdPolicy { compare_with_presets, trust };
Expected<ResolvedPlan> resolve_with(const Plan& plan, const Presets& presets, IdPolicy policy);

// `written`: the plan's training object (or null). Needs model, cluster, stack and layout of `plan`; fills
// plan.training and appends to plan.notes.
Expected<void> resolve_training(const Json& written, ResolvedPlan& plan);
// `written`: the plan's run object (or null). Fills plan.run and appends to plan.notes.
Expected<void> resolve_run(const Json& written, ResolvedPlan& plan);

// What a node needs to know about the stack: its id and conventions, without defaults and fitted constants.
Json conventions_json(const Stack& stack);

} // namespace fourfold
