// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/runs/run_setup.h"

#include "app/models/shared/history_access.h"
#include "app/models/shared/text.h"
#include "app/view/runs/run_setup.h"

namespace fourfold::ui {

RunSetup prepareRun(const PlanDocument& document, const QString& target, std::optional<int> steps)
{
    RunSetup setup;
    if (document.plan().document.is_null()) {
        setup.refusal = tr("There is no plan to run");
        return setup;
    }
    view::RunSetup shared = view::prepare_run(document.plan(), document.presets(), target.toStdString(), steps);
    setup.refusal = fromUtf8(shared.refusal);
    setup.note = fromUtf8(shared.note);
    setup.steps = shared.steps;
    if (const std::optional<Prediction>& expected = shared.expected)
        setup.expectation = {expected->tps_per_gpu, expected->step_time_s, expected->memory_gib, expected->mfu};
    if (shared.request)
        setup.plan = document.plan();
    setup.request = std::move(shared.request);
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
