// SPDX-License-Identifier: GPL-3.0-or-later
// How long the last step of rehearsed ranks takes, and what each stage does meanwhile, in the planner's form.
#pragma once

#include "core/rehearsal/match.h"
#include "core/schedule/timeline.h"

namespace fourfold {

// Where the last step begins in a program, and which track of the timeline it gets; -1: none.
struct LastStep {
    Moment begin;
    int stage = -1;
};

// `steps`: beside the programs. The step's length is from when the slowest rank ends the step before to when the
// slowest ends this one. A rank that waits for a message, or outside of its passes for a collective, has a span of
// that.
Timeline step_timeline(
    const std::vector<RankProgram>& programs, const Matched& matched, const std::vector<LastStep>& steps);

} // namespace fourfold
