// SPDX-License-Identifier: GPL-3.0-or-later
// Plans of many GPUs cut to this computer: the same techniques on tiny shapes. Every degree above 1 becomes 2, and no
// virtual stage or technique is lost.
#pragma once

#include "core/plan/plan.h"
#include "tests/parity/cases.h"

namespace fourfold::testing {

// Changes to tiny_plan().
Case twin_of(const ResolvedPlan& plan, const std::string& name);

// The shipped plans (presets/plans), each with its name.
std::vector<std::pair<std::string, ResolvedPlan>> shipped_plans();
// The rows of torchtitan's published table (presets/published).
std::vector<std::pair<std::string, ResolvedPlan>> torchtitan_rows();

// Of all of these, each twin once: equal ones have the name of the first.
std::vector<Case> all_twins();

} // namespace fourfold::testing
