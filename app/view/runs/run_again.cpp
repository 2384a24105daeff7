// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/runs/run_again.h"

#include "app/view/plan/edits.h"
#include "core/history/event_types.h"

#include <filesystem>

namespace fourfold::view {

namespace {
// The folder of the newest one; empty: there is none.
std::string checkpoints_of(const RunDetail& run)
{
    std::string folder;
    for (const Json& event : run.other_events) {
        if (kind_of(event) == EventKind::checkpoint)
            folder = std::filesystem::path(read_event<CheckpointEvent>(event).path).parent_path().string();
    }
    return folder;
}
} // namespace

Expected<Plan> plan_of_run(const RunDetail& run)
{
    return plan_from_json(run.plan, "plan of run " + run.summary.id);
}

bool has_checkpoint(const RunDetail& run)
{
    return !checkpoints_of(run).empty();
}

Expected<Plan> plan_from_checkpoint(const RunDetail& run)
{
    const std::string folder = checkpoints_of(run);
    if (folder.empty()) {
        return Problem{ProblemCode::not_found, "run " + run.summary.id + " told of no checkpoint",
            "run.checkpoint.every in its plan makes some", {}};
    }
    FOURFOLD_TRY(Plan plan, plan_of_run(run));
    for (const char* field : {"run.checkpoint.load", "run.checkpoint.path"}) {
        FOURFOLD_TRY(plan, with_value(plan, field, folder));
    }
    // Beside the newest one, where it is damaged, are older ones.
    return with_value(plan, "run.checkpoint.from_last_good", true);
}

} // namespace fourfold::view
