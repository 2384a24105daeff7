// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/runs/run_setup.h"

#include "app/models/plan/plan_edits.h"
#include "app/models/shared/answer.h"
#include "app/models/shared/history_access.h"
#include "app/models/shared/text.h"
#include "core/calibration/user/evidence.h"
#include "core/layout/batch_ramp.h"
#include "core/plan/trainable.h"
#include "runner/target/room.h"

namespace fourfold::ui {

namespace {
constexpr const char* kTrainerStack = "fourfold";

QString firstOf(const std::vector<Reason>& reasons)
{
    QString text = fromUtf8(reasons.front().message);
    if (reasons.size() > 1)
        text += tr(" (and %1 more)").arg(reasons.size() - 1);
    return text;
}

RunSetup refused(const QString& why)
{
    RunSetup setup;
    setup.refusal = why;
    return setup;
}

// The same plan as the bundled trainer runs it.
Expected<ResolvedPlan> forTrainer(const PlanDocument& document)
{
    FOURFOLD_TRY(const Plan plan, withValue(document.plan(), "stack", kTrainerStack));
    return resolve(plan, document.presets());
}
} // namespace

RunSetup prepareRun(const PlanDocument& document, const QString& target, std::optional<int> steps)
{
    if (document.problem())
        return refused(fromUtf8(document.problem()->line()));
    if (!document.brokenRules().empty())
        return refused(firstOf(document.brokenRules()));
    if (!document.resolved())
        return refused(tr("There is no plan to run"));
    const Expected<ResolvedPlan> runs = forTrainer(document);
    if (!runs)
        return refused(fromUtf8(runs.error().line()));
    if (const std::vector<Reason> broken = check(*runs); !broken.empty())
        return refused(firstOf(broken));
    RunSetup setup;
    const Prediction prediction = predict_with_evidence(*runs);
    setup.expectation = {prediction.tps_per_gpu, prediction.step_time_s, prediction.memory_gib, prediction.mfu};
    setup.steps = steps.value_or(total_steps(runs->training, runs->run));
    if (setup.steps < 1)
        setup.refusal = tr("The plan does not say how long to train: choose the number of steps");
    Expected<Target> where = target.isEmpty()
        ? Problem{ProblemCode::bad_input, tr("Name at least one host").toStdString(), {}, {}}
        : load_target(target.toStdString());
    if (!where)
        setup.refusal = fromUtf8(where.error().line());
    if (const std::vector<Reason> limits = trainer_limits(*runs); !limits.empty())
        setup.refusal = firstOf(limits);
    if (where && setup.refusal.isEmpty()) {
        if (const Expected<void> held = check_room(*where, *runs, prediction, room_here()); !held)
            setup.refusal = fromUtf8(held.error().line());
    }
    if (!setup.refusal.isEmpty())
        return setup;
    const Stack& planned = document.resolved()->stack;
    if (planned.id != kTrainerStack) {
        setup.note = tr("Planned for %1; the bundled trainer runs it, and both predictions are kept")
                         .arg(fromUtf8(planned.name.empty() ? planned.id : planned.name));
    }
    if (prediction.fit == Fit::no && prediction.memory_device_gib)
        setup.note = tr("The prediction says that it will not fit into memory");
    setup.note = (setup.note + warningLines(prediction.warnings)).trimmed();
    RunRequest request;
    request.plan = *document.resolved();
    request.target = *std::move(where);
    request.steps = setup.steps;
    setup.plan = document.plan();
    setup.request = std::move(request);
    return setup;
}

std::vector<RunSummary> runsUnderWay(const std::filesystem::path& historyFile)
{
    constexpr int kNewest = 20; // an old run that never ended is nobody's any more
    Expected<std::vector<RunSummary>> list = storedRuns(historyFile, kNewest);
    if (!list)
        return {};
    std::erase_if(
        *list, [](const RunSummary& run) { return run.state < RunState::launching || is_terminal(run.state); });
    return *std::move(list);
}

} // namespace fourfold::ui
