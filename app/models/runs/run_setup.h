// SPDX-License-Identifier: GPL-3.0-or-later
// From the open plan and a target to a run request, or to the sentence that says why it cannot run.
#pragma once

#include "app/models/plan/plan_document.h"
#include "app/models/runs/live_run.h"
#include "core/history/store.h"

namespace fourfold::ui {

struct RunSetup {
    std::optional<RunRequest> request; // empty: refused
    Plan plan; // as written, for a sweep of its layouts
    QString refusal; // one sentence; empty when there is a request
    QString note; // what the user should know beforehand; may be empty
    RunExpectation expectation; // of the bundled trainer, also where another stack was planned
    int steps = 0; // optimizer steps of the run
};

// `target` as in load_target(); `steps` overrides the plan's.
RunSetup prepareRun(const PlanDocument& document, const QString& target, std::optional<int> steps);

// Runs of a history that had not ended when their program did, newest first. Empty file name: the user's history.
std::vector<RunSummary> runsUnderWay(const std::filesystem::path& historyFile);

} // namespace fourfold::ui
