// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/shared/dropped_item.h"

#include "app/models/shared/text.h"
#include "app/view/project/project.h"
#include "core/base/json.h"
#include "core/dashboards/tracked_run.h"
#include "core/profile/step_trace.h"

namespace fourfold::ui {

namespace {
Problem nothingToDoWith(const std::filesystem::path& path)
{
    return {ProblemCode::bad_input, "this is not a plan, a project, a model, a run, a table of measurements or a trace",
        "drop a plan file, a folder of plans, a Hugging Face config.json, a run's folder, a CSV table, a trace of "
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
        if (std::filesystem::exists(path / view::kProjectFile, error))
            return DroppedItem{DroppedKind::project, path};
        if (std::filesystem::exists(path / "config.json", error))
            return DroppedItem{DroppedKind::model, path / "config.json"};
        if (may_hold_tracked_runs(path))
            return DroppedItem{DroppedKind::tracker, path};
        if (view::is_project(path))
            return DroppedItem{DroppedKind::project, path};
        return nothingToDoWith(path);
    }
    if (fromUtf8(path.extension().string()).compare(QLatin1String(".csv"), Qt::CaseInsensitive) == 0)
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
    return nothingToDoWith(path);
}

QString whatItDoes(const DroppedItem& item)
{
    const QString name = fromUtf8(item.file.filename().string());
    switch (item.kind) {
    case DroppedKind::plan:
        return tr("Open plan %1").arg(name);
    case DroppedKind::project:
        return tr("Open project %1, and close the open plans").arg(name);
    case DroppedKind::model:
        return tr("Take the model of the current plan from %1").arg(name);
    case DroppedKind::run:
        return tr("Add run %1 to the history").arg(name);
    case DroppedKind::measurements:
        return tr("Compare with the measurements in %1").arg(name);
    case DroppedKind::trace:
        return tr("Lay the trace %1 beside the plan").arg(name);
    case DroppedKind::tracker:
        return tr("Show the curves of %1").arg(name);
    }
    return {};
}

} // namespace fourfold::ui
