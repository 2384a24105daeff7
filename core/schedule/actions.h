// SPDX-License-Identifier: GPL-3.0-or-later
// Pipeline schedules as action lists. The planner simulates them; the trainer executes the very same lists.
#pragma once

#include "core/plan/plan.h"

#include <string>
#include <vector>

namespace fourfold {

// `backward` is the whole backward. Schedules that split it (Qi et al. 2023, arXiv:2401.10241, section 2) have an
// `input_gradient` (B of the paper) and a later `weight_gradient` (W) in its place.
enum class ActionKind { forward, backward, weight_gradient, input_gradient };

struct Action {
    ActionKind kind = ActionKind::forward;
    int micro_batch = 0;
    int chunk = 0; // model chunk [0, pp * virtual_stages); its stage: core/plan/chunk_placement.h
    bool operator==(const Action&) const = default;
};

// A generated schedule.
struct ScheduleShape {
    Schedule schedule = Schedule::one_f_one_b;
    int pp = 1, virtual_stages = 1, micro_batches = 1;
};

// Does the schedule take these? Fails with `unsupported` for Schedule::csv, whose lists are in a file: see
// core/schedule/plan_schedule.h.
Expected<void> check_schedule(const ScheduleShape& shape);

// One list per pipeline rank, in execution order: core/schedule/rank_actions.h. Fails as check_schedule().
Expected<std::vector<std::vector<Action>>> make_schedule(
    Schedule schedule, int pp, int virtual_stages, int micro_batches);

} // namespace fourfold
