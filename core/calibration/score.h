// SPDX-License-Identifier: GPL-3.0-or-later
// Predictions of the rows of a measured table, in-sample or each with constants that were fitted without its group.
#pragma once

#include "core/calibration/fold_set.h"
#include "core/calibration/measured_table.h"
#include "core/predict/prediction.h"

#include <optional>
#include <string>
#include <vector>

namespace fourfold {

// One row with its prediction. Errors are those of throughput: predicted / measured - 1.
struct ScoredRow {
    const MeasuredRow* row = nullptr; // of the table, which must outlive this
    // Rows of one group vouch for each other: the group of the split, of halves the single table; empty in-sample.
    std::string group;
    std::optional<double> tps_per_gpu, memory_gib, memory_device_gib; // predicted
    std::optional<Interval> interval;
    Evidence evidence = Evidence::extrapolated;
    double risk = 1; // of not fitting
    double deviation = 0; // of the layout's own error, where its kind was never measured
    bool out_of_memory = false; // predicted
    // Would not fit without recomputation, which the source may have used and does not tell: no verdict.
    bool memory_unknown = false;
    // Predicted not to run: out of memory, or a rule broken that the source stated itself (not by a stand-in).
    bool crash = false;
    std::string crash_reason;

    // Rows that ran, where there is a prediction.
    [[nodiscard]] std::optional<double> error() const;
    [[nodiscard]] std::optional<double> log_error() const; // ln(predicted / measured)
    [[nodiscard]] std::optional<double> memory_error_gib() const; // where the row prints memory
};

struct ScoredTable {
    std::string label; // "left out by block", "in-sample", "never fitted" (the stack was fitted to other tables alone)
    std::optional<RowSplit> split; // empty: in-sample
    bool stale = false; // the folds were fitted on another version of the table
    std::vector<std::string> groups_without_fold; // never left out of a fit: they are not among the rows
    std::vector<ScoredRow> rows; // those that ran or crashed, in the table's order
};

// `folds` null: with the stack presets as they are.
ScoredTable score_table(const MeasuredTable& table, const FoldSet* folds);

} // namespace fourfold
