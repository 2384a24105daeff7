// SPDX-License-Identifier: GPL-3.0-or-later
// The training as a whole as a plan file has it: its length (`run.tokens`) and what it costs (`budget`).
#pragma once

#include "core/search/economics.h"

namespace fourfold {

// What is not written is not known, but for the tokens: 20 per parameter. `plan` resolves to `resolved`.
TrainingBudget budget_of(const Plan& plan, const ResolvedPlan& resolved);

// Whether a plan says something of it that a prediction without questions would leave out.
bool has_budget(const Plan& plan);

// Where a goodput is not known because one of the two that it needs is missing: which. Empty where both or none are.
std::string missing_for_goodput(const TrainingBudget& budget);

} // namespace fourfold
