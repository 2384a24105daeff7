// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/compare/compare_entry.h"

#include "app/models/shared/text.h"
#include "app/view/compare/comparison_bars.h"
#include "app/view/compare/kept_comparison.h"
#include "core/calibration/user/evidence.h"
#include "core/predict/term_off.h"

#include <QCoreApplication>

namespace fourfold::ui {

QString entryKindLabel(EntryKind kind)
{
    switch (kind) {
    case EntryKind::plan:
        return QCoreApplication::translate("Compare", "Plan");
    case EntryKind::run:
        return QCoreApplication::translate("Compare", "Run");
    case EntryKind::published:
        return QCoreApplication::translate("Compare", "Published");
    }
    return {};
}

std::optional<double> CompareEntry::mfu() const
{
    return prediction ? view::mfu_of(*prediction) : std::nullopt;
}

std::optional<double> CompareEntry::measuredMfu() const
{
    return prediction ? view::mfu_at(*prediction, tps_per_gpu) : std::nullopt;
}

CompareEntry entryOf(const QString& id, const QString& name, const Prediction& prediction)
{
    CompareEntry entry;
    entry.kind = EntryKind::plan;
    entry.id = id;
    entry.name = name;
    entry.prediction = prediction;
    return entry;
}

CompareEntry entryOf(const RunDetail& run)
{
    CompareEntry entry;
    entry.kind = EntryKind::run;
    entry.id = fromUtf8(run.summary.id);
    entry.origin = exactText(view::origin_of_run(run.summary.id));
    entry.name = fromUtf8(run.summary.name);
    if (Expected<Prediction> stored = prediction_from_json(run.prediction, run.summary.id)) {
        entry.prediction = *std::move(stored);
        // The stored form leaves the plan's derived fields to the plan itself.
        if (Expected<ResolvedPlan> plan = read_resolved(run.plan, run.summary.id))
            entry.prediction->plan = *std::move(plan);
        // Nor does it keep the timeline.
        if (entry.prediction->timeline.spans.empty()) {
            if (Expected<Timeline> step = predicted_step(run.plan))
                entry.prediction->timeline = *std::move(step);
        }
    }
    entry.trace = measured_step(run.other_events);
    entry.tps_per_gpu = run.summary.measured_tps_per_gpu;
    entry.step_time_s = run.summary.measured_step_time_s;
    entry.memory_gib = run.summary.measured_memory_gib;
    entry.loss = run.summary.eval_loss ? run.summary.eval_loss : run.summary.last_loss;
    return entry;
}

CompareEntry entryOf(const MeasuredTable& table, const MeasuredRow& row)
{
    CompareEntry entry;
    entry.kind = EntryKind::published;
    entry.id = fromUtf8(table.name + ":" + std::to_string(row.line));
    entry.name = fromUtf8(row.source + " " + row.row).trimmed();
    entry.origin = exactText(view::origin_of_row(table.file, row.line));
    if (row.plan.gpus > 0)
        entry.prediction = predict_with_evidence(row.plan);
    if (row.ran()) {
        entry.tps_per_gpu = row.tps_per_gpu;
        entry.step_time_s = row.step_time_s;
        entry.memory_gib = row.memory_gib;
    }
    return entry;
}

} // namespace fourfold::ui
