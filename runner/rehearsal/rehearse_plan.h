// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold rehearse`: the trainer plays all ranks of a plan on this computer, without values, GPUs or a network.
#pragma once

#include "core/base/json.h"
#include "core/plan/plan.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>

namespace fourfold {

// How far it came, as the trainer says it.
struct RehearsalProgress {
    std::size_t rehearsed = 0, of = 0; // ranks; `of` 0: it is being prepared
    double reserved_gib = 0; // at the peak of the rank that takes most
};

struct RehearsalRequest {
    ResolvedPlan plan; // of any stack: what is rehearsed is Fourfold's own trainer
    std::filesystem::path trainer = {}; // default: fourfold-trainer beside this program
    std::optional<double> timeout_s = {}; // default: as long as it takes
    bool timeline = false;
    // How unevenly experts are loaded, as the share of cases that are not worse (core/program/expert_imbalance.h);
    // default: evenly.
    std::optional<double> routing_quantile = {};
    // Or what the busiest expert-parallel rank gets above the mean, as a share of it.
    std::optional<double> expert_imbalance = {};
    std::function<void(const RehearsalProgress&)> told = {}; // on the caller's thread, where it moved
};

// What the trainer found (the object of runner/trainer/rehearsal/rehearse.h), with "planned_gib" for each stage,
// "planned_step_time_s" and, where the request has one of these, "expert_imbalance" (tokens of the busiest rank above
// the mean, as a share). A rehearsal in which ranks wait for each other is no Problem of this function: "verdict" says
// it. A Problem where the plan cannot be rehearsed (with what the trainer said), where there is no trainer or LibTorch,
// when the time is over (with how far it came), or when stop is requested (cancelled).
Expected<Json> rehearse_plan(const RehearsalRequest& request, const std::stop_token& stop);

} // namespace fourfold
