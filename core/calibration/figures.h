// SPDX-License-Identifier: GPL-3.0-or-later
// What scored rows come to: errors of throughput and memory, verdicts on what fits, ranking, coverage of intervals.
#pragma once

#include "core/calibration/score.h"

#include <map>
#include <string>
#include <vector>

namespace fourfold {

// Relative errors as shares (0.03 = 3 %).
struct ErrorFigures {
    int rows = 0;
    double mape = 0, median = 0, max = 0, bias = 0; // mean, median, largest of |e|; mean of e
    double within_5 = 0, within_10 = 0; // share of rows within 5 and 10 %
};
ErrorFigures error_figures(const std::vector<double>& errors);

struct MemoryFigures {
    int rows = 0;
    double mae_gib = 0, max_gib = 0, bias_gib = 0;
    double mape = 0;
};
MemoryFigures memory_figures(const std::vector<const ScoredRow*>& rows);

// Ran or crashed. False alarm: predicted not to run, and ran. Missed: predicted to run, and crashed.
struct Verdicts {
    int cells = 0, crashed = 0, right = 0, false_alarms = 0, missed = 0;
    int unknown = 0; // beside the cells: what is predicted is an upper bound of memory, and does not fit
    [[nodiscard]] double accuracy() const { return cells > 0 ? double(right) / cells : 0; }
    [[nodiscard]] double missed_share() const { return cells > 0 ? double(missed) / cells : 0; }
};
Verdicts verdicts(const std::vector<const ScoredRow*>& rows);

// Rank correlation with mean ranks for ties (Spearman 1904); 0 for fewer than two values or without spread.
double spearman(const std::vector<double>& a, const std::vector<double>& b);

// Rows by job: what a person would compare, layouts for one and the same model, batch and number of GPUs.
std::map<std::string, std::vector<const ScoredRow*>> jobs_of(const std::vector<const ScoredRow*>& rows);

// Standard deviation of the error of differences: of ln(predicted a / b) - ln(measured a / b) over all pairs of layouts
// of one job that ran, from the median (1.4826 x median of sizes), so that a few broken runs do not decide. Errors of
// one job have much in common, which cancels here. 0 without pairs.
double error_of_differences(const std::vector<const ScoredRow*>& rows);

// Within each job (the same table, model, sequence length, GPUs and global batch): does the prediction put the layouts
// in the measured order, and what does its first pick lose against the measured best? Rows of one and the same plan are
// one layout with the mean of their measurements. `fastest`: the highest predicted
// throughput; `first`: as the planner ranks (risk of not fitting; of ties the one with less memory).
struct RankingFigures {
    int groups = 0; // jobs of at least two measured layouts
    int long_groups = 0; // of at least three: these have a rank correlation
    double spearman_mean = 0, spearman_median = 0, spearman_min = 0;
    double regret_mean = 0, regret_max = 0; // of `fastest`
    double first_regret_mean = 0, first_regret_max = 0; // of `first`
    int exact = 0; // jobs whose measured best is `fastest`
};
RankingFigures ranking_figures(const std::vector<const ScoredRow*>& rows);

// The planner's choice among all cells of a job, crashed ones included: a pick that crashed loses 100 %. Jobs in which
// nothing ran have no best and are left out.
struct PlannerFigures {
    int groups = 0, crashed_picks = 0;
    double regret_mean = 0, regret_median = 0, regret_max = 0;
};
PlannerFigures planner_figures(const std::vector<const ScoredRow*>& rows);

struct Figures {
    std::string name; // "all rows", "core", or a table's name
    ErrorFigures throughput; // rows that ran and are no anomaly
    ErrorFigures with_anomalies; // the same with them
    int unpredicted = 0; // ran, but no time can be computed: false alarms of the verdicts
    MemoryFigures memory;
    Verdicts fits; // memory alone: ran against out of memory
    Verdicts runs; // every rule: ran against crashed for any reason
    RankingFigures ranking;
    PlannerFigures planner;
};
Figures figures_of(const std::string& name, const std::vector<const ScoredRow*>& rows);

} // namespace fourfold
