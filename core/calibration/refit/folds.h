// SPDX-License-Identifier: GPL-3.0-or-later
// Fits with groups of rows left out, and what they predict for those rows.
#pragma once

#include "core/calibration/fold_set.h"
#include "core/calibration/refit/corpus.h"

namespace fourfold {

struct LeftOut {
    std::vector<FoldSet> folds; // one for each table of the body
    std::vector<RowPrediction> predictions; // one for each of Corpus::rows, by the fold that never saw its group
};

// `full`: the stack as fitted to all rows; the start of every fit.
Expected<LeftOut> fit_left_out(
    const Corpus& corpus, const FitSet& set, const Stack& full, RowSplit split, const FitOptions& options);

// Figures of predictions of a corpus. Time: rows that ran, of the playbook its core.
struct Score {
    int time_rows = 0, memory_rows = 0, cells = 0, right = 0, false_alarms = 0, missed = 0;
    double mape = 0, median = 0, bias = 0, worst = 0;
    std::string worst_row;
    int expert_rows = 0; // of them, with a mixture of experts
    double dense_mape = 0, expert_mape = 0;
    double memory_gib = 0, memory_mape = 0, memory_bias_gib = 0;
};
Score score_of(const Corpus& corpus, const std::vector<RowPrediction>& predictions);
std::vector<RowPrediction> predict_all(const Corpus& corpus, const Stack& stack, int threads);
std::string to_text(const Score& score);

} // namespace fourfold
