// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/score.h"
#include "core/predict/interval.h"
#include "core/predict/rank.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace fourfold {

namespace {

// "training.global_batch" was not the source's: breaking a rule with it says nothing of the measured run.
bool is_stand_in(const Reason& reason, const MeasuredRow& row)
{
    const auto dot = reason.field.rfind('.');
    const std::string field = reason.field.substr(dot == std::string::npos ? 0 : dot + 1) + "=";
    return std::any_of(
        row.assumed.begin(), row.assumed.end(), [&](const std::string& assumed) { return assumed.starts_with(field); });
}

ScoredRow score_row(const MeasuredRow& row, const ResolvedPlan& plan)
{
    const Prediction prediction = predict(plan);
    ScoredRow scored;
    scored.row = &row;
    scored.tps_per_gpu = prediction.tps_per_gpu;
    scored.memory_gib = prediction.memory_gib;
    scored.memory_device_gib = prediction.memory_device_gib;
    scored.interval = prediction.interval;
    scored.evidence = prediction.evidence;
    scored.risk = risk_of_not_fitting(prediction);
    scored.deviation = unmeasured_deviation(plan,
        prediction.memory_capacity_gib > 0 ? prediction.memory_device_gib.value_or(0) / prediction.memory_capacity_gib
                                           : 0);
    const bool too_large = prediction.memory_device_gib && prediction.fit == Fit::no;
    scored.memory_unknown = too_large && row.recompute_untold;
    scored.out_of_memory = too_large && !scored.memory_unknown;
    for (const Reason& reason : prediction.reasons) {
        if (is_stand_in(reason, row) || (scored.memory_unknown && reason.code == "memory"))
            continue;
        scored.crash = true;
        scored.crash_reason = reason.message;
        break;
    }
    return scored;
}

} // namespace

std::optional<double> ScoredRow::error() const
{
    if (!tps_per_gpu || !row->tps_per_gpu)
        return std::nullopt;
    return *tps_per_gpu / *row->tps_per_gpu - 1;
}

std::optional<double> ScoredRow::log_error() const
{
    const auto relative = error();
    return relative ? std::optional(std::log1p(*relative)) : std::nullopt;
}

std::optional<double> ScoredRow::memory_error_gib() const
{
    if (!memory_gib || !row->memory_gib || !row->ran())
        return std::nullopt;
    return *memory_gib - *row->memory_gib;
}

ScoredTable score_table(const MeasuredTable& table, const FoldSet* folds)
{
    ScoredTable scored;
    scored.label = "in-sample";
    if (folds != nullptr) {
        scored.split = folds->split;
        scored.label = "left out by " + std::string(name(folds->split));
        scored.stale = folds->table_sha256 != table.sha256;
    }
    std::set<std::string> without_fold;
    for (const MeasuredRow& row : table.rows) {
        if (!row.ran() && !row.crashed())
            continue;
        if (folds == nullptr) {
            scored.rows.push_back(score_row(row, row.plan));
            continue;
        }
        if (row.plan.stack.id != folds->stack)
            continue; // no business of these folds
        const std::string group = group_key(row, folds->split);
        const Fold* fold = folds->without(group);
        if (fold == nullptr) {
            without_fold.insert(group);
            continue;
        }
        ResolvedPlan plan = row.plan;
        plan.stack = with_fold(std::move(plan.stack), *fold);
        if (folds->split == RowSplit::generation)
            plan.stack = without_generation(std::move(plan.stack), group);
        scored.rows.push_back(score_row(row, plan));
        scored.rows.back().group = folds->split == RowSplit::halves ? group_key(row, RowSplit::table) : group;
    }
    scored.groups_without_fold = {without_fold.begin(), without_fold.end()};
    return scored;
}

} // namespace fourfold
