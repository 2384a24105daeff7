// SPDX-License-Identifier: GPL-3.0-or-later
// Pipeline schedules as action lists. The planner simulates them; the trainer executes the very same lists.
#pragma once

#include "core/plan/plan.h"

#include <string>
#include <vector>

namespace fourfold {

enum class ActionKind { forward, backward, weight_gradient };

struct Action {
    ActionKind kind = ActionKind::forward;
    int micro_batch = 0;
    int chunk = 0; // model chunk [0, pp * virtual_stages); lives on rank chunk % pp
    bool operator==(const Action&) const = default;
};

// One list per pipeline rank, in execution order. GPipe: all forwards, then all backwards. 1F1B: Narayanan et al. 2021
// (arXiv:2104.04473) figure 4 top; interleaved: same, bottom. `backward` includes the weight gradient unless the
// schedule splits it. Fails with `unsupported` for schedules that have no generator yet, naming them.
Expected<std::vector<std::vector<Action>>> make_schedule(
    Schedule schedule, int pp, int virtual_stages, int micro_batches);

} // namespace fourfold
