// SPDX-License-Identifier: GPL-3.0-or-later
// From the words on the command line to a plan, and from a plan to its prediction.
#pragma once

#include "app/cli/command.h"
#include "core/plan/plan.h"
#include "core/plan/presets.h"
#include "core/predict/prediction.h"

#include <string>
#include <vector>

namespace fourfold::cli {

// `PLAN [--set path=value ...]`.
struct PlanOptions {
    std::string plan;
    std::vector<std::string> assignments;
    void add_to(CLI::App& command, bool required);
    // The file of that name, else of the plan preset.
    [[nodiscard]] Expected<std::filesystem::path> file(const Presets& presets) const;
    // The plan in it; then the assignments in order.
    [[nodiscard]] Expected<Plan> load(const Presets& presets) const;
    // The same, resolved; a broken rule is a Problem. For commands that need a plan that can run.
    [[nodiscard]] Expected<ResolvedPlan> load_sound(const Presets& presets) const;
};

Expected<Plan> with_assignments(Plan plan, const std::vector<std::string>& assignments);

// "training.seq_length: unknown key, ignored (did you mean training.seq_len?)", one a key.
std::vector<std::string> unknown_key_warnings(const Plan& plan);

// A plan with everything that is known of it.
struct Evaluated {
    ResolvedPlan resolved;
    std::vector<Reason> broken_rules; // structural, from check()
};
// Resolves, checks and warns of unknown keys on standard error.
Expected<Evaluated> evaluate(const Plan& plan, const Presets& presets);
// The first broken rule as a problem of the plan's file.
Problem problem_of(const Reason& reason, const std::string& where);

// Says where the answer lacks own runs, as the history cannot be read: for answers that show no warnings of a
// prediction.
void warn_of_missing_runs();
// predict_with_evidence(), the plan's unknown keys among its warnings.
Prediction predict_with_warnings(const ResolvedPlan& resolved, const Plan& plan);

} // namespace fourfold::cli
