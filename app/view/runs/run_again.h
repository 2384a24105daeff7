// SPDX-License-Identifier: GPL-3.0-or-later
// The plan of a stored run, to be looked at, run again or gone on with.
#pragma once

#include "core/history/store.h"
#include "core/plan/plan.h"

namespace fourfold::view {

// As it was resolved for the run.
Expected<Plan> plan_of_run(const RunDetail& run);
// The same, beginning at the newest checkpoint that the run told of and keeping its own beside it; `not_found` where it
// told of none.
Expected<Plan> plan_from_checkpoint(const RunDetail& run);
bool has_checkpoint(const RunDetail& run);

} // namespace fourfold::view
