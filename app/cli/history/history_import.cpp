// SPDX-License-Identifier: GPL-3.0-or-later
// Logs of other trainers as runs of the history.
#include "app/cli/history/history_import.h"

#include "core/base/sha256.h"
#include "core/calibration/user/table_runs.h"
#include "core/history/clock.h"
#include "core/history/training_log.h"

namespace fourfold::cli {

Expected<std::vector<Json>> runs_of_log(const std::string& text, const std::string& file, const PlanOptions& options)
{
    FOURFOLD_TRY(const TrainingLog log, parse_training_log(text, file));
    if (options.plan.empty())
        return Problem{ProblemCode::bad_input,
            "a log of " + log.stack + " does not say which model and layout it is of",
            "name the plan that was run with --plan", file};
    const Presets presets;
    FOURFOLD_TRY(Plan plan, options.load(presets));
    FOURFOLD_TRY(plan, with_assignment(plan, "stack=" + log.stack));
    FOURFOLD_TRY(const Evaluated evaluated, evaluate(plan, presets));
    if (!evaluated.broken_rules.empty()) // what breaks a rule was not what ran
        return problem_of(evaluated.broken_rules.front(), plan.where);
    const ResolvedPlan& resolved = evaluated.resolved;
    const auto differs = [&](const char* field, const std::optional<int>& logged, int planned) -> Expected<void> {
        if (!logged || *logged == planned)
            return {};
        return Problem{ProblemCode::bad_input,
            std::string("the log says ") + field + " " + std::to_string(*logged) + ", the plan "
                + std::to_string(planned),
            "name the plan that was run, or change it with --set", file};
    };
    FOURFOLD_CHECK(differs("gpus", log.gpus, resolved.gpus));
    FOURFOLD_CHECK(differs("seq_len", log.seq_len, resolved.training.seq_len));
    const auto events = events_of_log(
        log, resolved.training.global_batch, resolved.training.seq_len, resolved.gpus, history::now_text());
    const bool memory = log.out_of_memory;
    return std::vector<Json>{measured_run(resolved, sha256_hex(text), resolved.name + " (log of " + log.stack + ")",
        memory ? "oom" : "ok", memory ? "the log ends with CUDA out of memory" : "", events)};
}

} // namespace fourfold::cli
