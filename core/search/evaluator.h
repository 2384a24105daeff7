// SPDX-License-Identifier: GPL-3.0-or-later
// Time and memory of one layout of a search.
#pragma once

#include "core/search/fields.h"
#include "core/search/space.h"

#include <string>

namespace fourfold {

enum class Outcome { evaluated, bounded, broken_rule, does_not_fit };

struct Evaluation {
    Outcome outcome = Outcome::broken_rule;
    LayoutFigures figures; // memory from does_not_fit on; step_time_s of evaluated, a lower bound of it for bounded
    std::string code, message; // of the broken rule
};

// Evaluates layouts of one space one after the other; keeps the terms that layouts share. One per thread.
class LayoutEvaluator {
public:
    virtual ~LayoutEvaluator() = default;
    // `plan` holds the candidate already (see place()). With `simulate` a step time is never only a bound.
    virtual Evaluation evaluate(const ResolvedPlan& plan, bool simulate) = 0;
};

// The reference: the whole operation list and the event simulator for every layout, as predict() does.
Evaluation evaluate_by_simulation(const ResolvedPlan& plan);

} // namespace fourfold
