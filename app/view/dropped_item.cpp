// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/dropped_item.h"

#include "app/view/project/project.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/dashboards/tracked_run.h"
#include "core/profile/step_trace.h"

namespace fourfold::view {

namespace {
Problem nothing_to_do_with(const std::filesystem::path& path)
{
    return {ProblemCode::bad_input, "this is not a plan, a project, a model, a run, a table of measurements or a trace",
        "give a plan file, a folder of plans, a Hugging Face config.json, a run's folder, a CSV table, a trace of "
        "torch.profiler, or a folder of TensorBoard or Weights & Biases",
        path.string()};
}
} // namespace

Expected<DroppedItem> classify(const std::filesystem::path& path)
{
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        if (std::filesystem::exists(path / "events.jsonl", error) && std::filesystem::exists(path / "plan.json", error))
            return DroppedItem{DroppedKind::run, path};
        if (std::filesystem::exists(path / kProjectFile, error))
            return DroppedItem{DroppedKind::project, path};
        if (std::filesystem::exists(path / "config.json", error))
            return DroppedItem{DroppedKind::model, path / "config.json"};
        if (may_hold_tracked_runs(path))
            return DroppedItem{DroppedKind::tracker, path};
        if (is_project(path))
            return DroppedItem{DroppedKind::project, path};
        return nothing_to_do_with(path);
    }
    if (lower_case(path.extension().string()) == ".csv")
        return DroppedItem{DroppedKind::measurements, path};
    if (may_hold_tracked_runs(path))
        return DroppedItem{DroppedKind::tracker, path};
    if (looks_like_trace(path)) // by its beginning: it may be gigabytes
        return DroppedItem{DroppedKind::trace, path};
    FOURFOLD_TRY(const Json json, read_json_file(path));
    if (json.is_object() && json.contains("fourfold_project"))
        return DroppedItem{DroppedKind::project, path.parent_path()};
    if (json.is_object() && json.contains("fourfold_run"))
        return DroppedItem{DroppedKind::run, path};
    if (json.is_object() && (json.contains("fourfold_plan") || (json.contains("cluster") && json.contains("gpus"))))
        return DroppedItem{DroppedKind::plan, path};
    if (json.is_object() && json.contains("model_type"))
        return DroppedItem{DroppedKind::model, path};
    return nothing_to_do_with(path);
}

} // namespace fourfold::view
