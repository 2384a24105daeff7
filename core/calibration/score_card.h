// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that is told of one measured table: read, predicted in-sample and left out, summed up.
#pragma once

#include "core/calibration/coverage.h"
#include "core/calibration/figures.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace fourfold {

// Before the number of a release in the name of its section.
inline const std::string kReleaseSection = "release ";

// One way of predicting the table's rows, with its figures: all rows, the source's core, each `table` of the file, and
// each release where the rows say theirs.
struct ScoreView {
    ScoredTable scored;
    std::vector<Figures> sections;
    std::vector<Coverage> coverage; // of the core's rows; empty in-sample
    std::vector<const ScoredRow*> worst; // largest errors first, of rows that are no anomaly
};

struct ScoreCard {
    std::shared_ptr<const MeasuredTable> table; // the views point into it
    std::vector<ScoreView> views; // left-out ones first
    int excluded = 0; // rows with an anomaly, of those that ran or crashed
    int unscored = 0; // cells that are invalid or were not run
    std::vector<std::string> assumed; // "global_batch=1024 in 210 rows"
};

// `folds`: the fold sets of the table (find_fold_sets).
ScoreCard make_score_card(MeasuredTable table, const std::vector<FoldSet>& folds, int worst_rows = 10);

// Reads and scores a table with the fold sets of its name; the order of views is that of the source's splits.
Expected<ScoreCard> read_score_card(
    const std::filesystem::path& file, const TableSources& sources, const Presets& presets, int worst_rows = 10);

// The measured tables (CSV files with a `metric` column) in a folder, sorted; and in `published/` of all preset
// folders.
std::vector<std::filesystem::path> measured_tables_in(const std::filesystem::path& folder);
std::vector<std::filesystem::path> published_tables();

Json to_json(const ScoreCard& card);

} // namespace fourfold
