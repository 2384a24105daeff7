// SPDX-License-Identifier: GPL-3.0-or-later
// Are the 90 % intervals honest? Widths come from the errors of rows that were left out (split conformal prediction:
// Vovk, Gammerman, Shafer 2005, chapter 4; groups as units, so that rows that are alike do not vouch for each other).
#pragma once

#include "core/calibration/score.h"

#include <optional>
#include <string>
#include <vector>

namespace fourfold {

inline constexpr double kIntervalConfidence = 0.9;

// The half-width that holds `confidence` of new errors like these: the (n + 1) confidence-th smallest |error|, between
// two of them by proportion (the next larger one would hold more than that on average); the largest where n is too
// small for that. 0 for none.
double conformal_width(std::vector<double> errors, double confidence = kIntervalConfidence);

struct Coverage {
    std::string name; // "8 GPUs and fewer", "memory"
    int rows = 0; // that ran and carry an interval
    int without_interval = 0; // ran; the prediction gives none (a regime without data)
    double shipped = 0; // share inside the interval that the prediction gives
    double shipped_width = 0; // mean half-width of those, as ln
    // Mean half-width that the other groups' rows ask for, and the share of rows inside it: rows that had no part in
    // it. Empty for a single group.
    double width = 0;
    std::optional<double> crossed;
};

// By band, then all rows.
std::vector<Coverage> time_coverage(const std::vector<const ScoredRow*>& rows);
Coverage memory_coverage(const std::vector<const ScoredRow*>& rows);

Json to_json(const Coverage& coverage);

} // namespace fourfold
