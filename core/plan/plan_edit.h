// SPDX-License-Identifier: GPL-3.0-or-later
// Changing a plan's layout as a whole. One field: with_field() of plan.h.
#pragma once

#include "core/plan/plan.h"

namespace fourfold {

// Takes GPUs, degrees, batch, schedule, sharding and recomputation from a resolved plan (a found layout); everything
// else stays as it is written.
Expected<Plan> with_layout(const Plan& plan, const ResolvedPlan& layout);

} // namespace fourfold
