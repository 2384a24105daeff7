// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold rehearse`: the trainer plays all ranks of a plan on this computer, without values, GPUs or a network.
#pragma once

#include "core/base/json.h"
#include "core/plan/plan.h"

#include <filesystem>
#include <optional>
#include <stop_token>

namespace fourfold {

struct RehearsalRequest {
    ResolvedPlan plan; // of any stack: what is rehearsed is Fourfold's own trainer
    std::filesystem::path trainer = {}; // default: fourfold-trainer beside this program
    std::optional<double> timeout_s = {}; // default: as long as it takes
    bool timeline = false;
};

// What the trainer found (the object of runner/trainer/rehearsal/rehearse.h), with "planned_gib" for each stage and
// "planned_step_time_s". A rehearsal in which ranks wait for each other is no Problem of this function: "verdict" says
// it. A Problem where the plan cannot be rehearsed (with what the trainer said), where there is no trainer or LibTorch,
// when the time is over (with how far it came), or when stop is requested (cancelled).
Expected<Json> rehearse_plan(const RehearsalRequest& request, const std::stop_token& stop);

} // namespace fourfold
