// SPDX-License-Identifier: GPL-3.0-or-later
// From a plan and a target to a run request, or to the sentence that says why it cannot run.
#pragma once

#include "core/predict/prediction.h"
#include "runner/runs/run.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fourfold::view {

inline constexpr const char* kTrainerStack = "fourfold"; // of the bundled trainer

// What is predicted for the stack that runs; empty where unknown.
struct RunExpectation {
    std::optional<double> tps_per_gpu, step_time_s, memory_gib, mfu; // mfu: of 1
    std::optional<Range> tps_interval = {}; // that holds 90 % of measurements
    int gpus = 0; // 0: not known
    // Held-out losses by steps, where the plan follows a recipe, and whose curve it is.
    std::vector<std::pair<double, double>> loss = {};
    std::string loss_of = {};
    std::optional<Range> memory_interval = {}, mfu_interval = {}; // as tps_interval; mfu: of 1
};
RunExpectation expectation_of(const Prediction& prediction);

struct RunSetup {
    std::optional<RunRequest> request; // empty: refused
    Plan plan; // as written, for a sweep of its layouts
    std::string refusal; // one sentence; empty when there is a request
    std::string refused_field; // of the plan, whose value is refused; may be empty
    std::string note; // what the user should know beforehand, in lines; may be empty
    RunExpectation expectation; // of the bundled trainer, also where another stack was planned
    int steps = 0; // optimizer steps of the run
};

// `target` as in load_target(); `steps` overrides the plan's.
RunSetup prepare_run(const Plan& plan, const Presets& presets, const std::string& target, std::optional<int> steps);

// The run starts without a rehearsal on this computer; the note says what that leaves unproven.
void leave_out_rehearsal(RunSetup& setup);
inline constexpr const char* kUnrehearsed
    = "Not rehearsed: that it fits and that no rank waits for ever is not proven before it starts";

// "Running", "Out of memory", ...
const char* state_label(RunState state);

} // namespace fourfold::view
