// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/runs/run_setup.h"

#include "app/view/compare/comparison_bars.h"
#include "app/view/curves/expected_curves.h"
#include "app/view/plan/edits.h"
#include "core/calibration/user/evidence.h"
#include "core/layout/batch_ramp.h"
#include "core/plan/trainable.h"
#include "runner/target/room.h"

#include <array>

namespace fourfold::view {

namespace {

std::string first_of(const std::vector<Reason>& reasons)
{
    return reasons.size() > 1 ? reasons.front().message + " (and " + std::to_string(reasons.size() - 1) + " more)"
                              : reasons.front().message;
}

RunSetup refused(const std::string& why, const std::string& field = {})
{
    RunSetup setup;
    setup.refusal = why;
    setup.refused_field = field;
    return setup;
}

void add_line(std::string& text, const std::string& line)
{
    text += (text.empty() ? "" : "\n") + line;
}

// The same plan as the bundled trainer runs it.
Expected<ResolvedPlan> for_trainer(const Plan& plan, const Presets& presets)
{
    FOURFOLD_TRY(const Plan changed, with_value(plan, "stack", kTrainerStack));
    return resolve(changed, presets);
}
} // namespace

RunExpectation expectation_of(const Prediction& prediction)
{
    const auto interval = prediction.interval ? std::optional(prediction.interval->tps_per_gpu) : std::nullopt;
    RunExpectation expectation{prediction.tps_per_gpu, prediction.step_time_s, prediction.memory_gib, prediction.mfu,
        interval, prediction.plan.gpus};
    if (prediction.interval) {
        expectation.memory_interval = prediction.interval->memory_gib;
        const std::optional<double> low = mfu_at(prediction, interval->low), high = mfu_at(prediction, interval->high);
        if (prediction.mfu && low && high)
            expectation.mfu_interval = Range{*low, *high};
    }
    if (const std::optional<Recipe> recipe = recipe_followed(prediction.plan, Presets())) {
        expectation.loss = loss_over_steps(recipe->curves.front(), prediction.plan);
        expectation.loss_of = recipe->curves.front().name;
    }
    return expectation;
}

RunSetup prepare_run(const Plan& plan, const Presets& presets, const std::string& target, std::optional<int> steps)
{
    if (plan.document.is_null())
        return refused("There is no plan to run");
    const Expected<ResolvedPlan> planned = resolve(plan, presets);
    if (!planned)
        return refused(planned.error().line());
    if (const std::vector<Reason> broken = check(*planned); !broken.empty())
        return refused(first_of(broken), broken.front().field);
    const Expected<ResolvedPlan> runs = for_trainer(plan, presets);
    if (!runs)
        return refused(runs.error().line());
    if (const std::vector<Reason> broken = check(*runs); !broken.empty())
        return refused(first_of(broken), broken.front().field);
    RunSetup setup;
    setup.plan = plan;
    const Prediction prediction = predict_with_evidence(*runs);
    setup.expectation = expectation_of(prediction);
    setup.steps = steps.value_or(total_steps(runs->training, runs->run));
    if (setup.steps < 1)
        setup.refusal = "The plan does not say how long to train: choose the number of steps";
    Expected<Target> where
        = target.empty() ? Problem{ProblemCode::bad_input, "Name at least one host", {}, {}} : load_target(target);
    if (!where)
        setup.refusal = where.error().line();
    if (const std::vector<Reason> limits = trainer_limits(*runs); !limits.empty()) {
        setup.refusal = first_of(limits);
        setup.refused_field = limits.front().field;
    }
    if (where && setup.refusal.empty()) {
        if (const Expected<void> held = check_room(*where, *runs, prediction, room_here()); !held)
            setup.refusal = held.error().line();
    }
    if (!setup.refusal.empty())
        return setup;
    if (planned->stack.id != kTrainerStack) {
        setup.note = "Planned for " + planned->stack.full_name()
            + "; the bundled trainer runs it, and both predictions are kept";
    }
    if (prediction.fit == Fit::no && prediction.memory_device_gib)
        setup.note = "The prediction says that it will not fit into memory";
    for (const std::string& warning : prediction.warnings)
        add_line(setup.note, "Warning: " + warning);
    RunRequest request;
    request.plan = *planned;
    request.target = *std::move(where);
    request.steps = setup.steps;
    request.rehearse = true;
    setup.request = std::move(request);
    return setup;
}

void leave_out_rehearsal(RunSetup& setup)
{
    if (!setup.request)
        return;
    setup.request->rehearse = false;
    add_line(setup.note, kUnrehearsed);
}

const char* state_label(RunState state)
{
    // In the order of the states.
    static constexpr std::array<const char*, kWords<RunState>.size()> kLabels{"Not started", "Checking",
        "Sending files", "Starting", "Running", "Stopping", "Done", "Out of memory", "Hung", "Failed", "Stopped",
        "Preempted", "Lost"};
    return kLabels[static_cast<std::size_t>(state)];
}

} // namespace fourfold::view
