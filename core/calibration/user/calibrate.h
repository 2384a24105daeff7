// SPDX-License-Identifier: GPL-3.0-or-later
// A user's own calibration: a stack, or the links and products of a cluster, fitted to measured runs; the report says
// what improved, what moved and what the runs could not determine; the result is saved as the user's own preset.
//
//   auto rows = history_rows(store, "fourfold", {});            // or table_rows(file, ...)
//   auto calibration = calibrate(presets, {.stack = "fourfold", .rows = *rows});
//   show(*calibration); save(*calibration, "");                 // preview first, then save
#pragma once

#include "core/calibration/fit/fit.h"
#include "core/plan/presets.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

struct CalibrationRequest {
    // Preset id. With a release ("megatron-core@25.11"), or where every row is of the same one, that release's
    // constants are fitted and no other's.
    std::string stack;
    // Fits this cluster's links and matrix products for that stack instead of the stack's own constants.
    std::optional<std::string> cluster;
    std::vector<FitRow> rows;
    std::string source; // where the rows come from, for the preset
    int threads = 0;
};

struct Calibration {
    std::string stack; // base preset
    std::string release; // of it, which alone was fitted; empty: the stack, whatever the release
    std::optional<std::string> cluster;
    std::vector<std::string> gpus; // that were measured
    std::string source, date;
    // What the preset has been fitted to, by digest: rows of these measurements are not counted again.
    std::vector<std::string> rows;
    int known_rows = 0; // asked for, but left out: the preset started from was fitted to them before
    int other_rows = 0; // left out: of other releases
    FitResult fit;
    // Each row (of many: each tenth) predicted by a fit that never saw it; from 3 rows on.
    std::optional<FitError> left_out;

    [[nodiscard]] std::vector<ConstantEstimate> moved() const;
    // The rows show them, but not better than the prior: too few rows, or rows too much alike.
    [[nodiscard]] std::vector<ConstantEstimate> undetermined() const;
    // No row depends on them: they stayed at their priors.
    [[nodiscard]] std::vector<ConstantEstimate> unseen() const;
};

// Fails where the stack has nothing to fit, no row can be used, the preset was fitted to all of them before, or
// (cluster) no row ran on that cluster.
Expected<Calibration> calibrate(const Presets& presets, const CalibrationRequest& request);

// The report as text, and as JSON.
std::string to_text(const Calibration& calibration);
Json to_json(const Calibration& calibration);

} // namespace fourfold
