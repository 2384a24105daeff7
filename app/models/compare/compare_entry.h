// SPDX-License-Identifier: GPL-3.0-or-later
// One column of a comparison: an open plan, a stored run or a published measurement, in the same figures.
#pragma once

#include "core/calibration/measured_table.h"
#include "core/history/store.h"
#include "core/predict/prediction.h"

#include <QString>

#include <optional>

namespace fourfold::ui {

enum class EntryKind { plan, run, published };
QString entryKindLabel(EntryKind kind); // "Plan", "Run", "Published"

struct CompareEntry {
    EntryKind kind = EntryKind::plan;
    QString id; // tells entries apart: a document's address, a run's id, "table:row"
    QString name;
    QString origin; // of an added entry: compare_origin.h makes it again from this
    std::optional<Prediction> prediction; // empty where the plan cannot be predicted
    // What was measured; empty for plans and for what was not recorded.
    std::optional<double> tps_per_gpu, step_time_s, memory_gib, loss;
    std::optional<Timeline> trace; // of a run's measured step

    // The resolved plan behind it, null when there is none.
    [[nodiscard]] const ResolvedPlan* plan() const { return prediction ? &prediction->plan : nullptr; }
    // view::mfu_of(), view::mfu_at().
    [[nodiscard]] std::optional<double> mfu() const;
    [[nodiscard]] std::optional<double> measuredMfu() const;
};

CompareEntry entryOf(const QString& id, const QString& name, const Prediction& prediction);
// The stored run with the prediction that was made for it; its plan is read from what the node was given.
CompareEntry entryOf(const RunDetail& run);
CompareEntry entryOf(const MeasuredTable& table, const MeasuredRow& row);

} // namespace fourfold::ui
