// SPDX-License-Identifier: GPL-3.0-or-later
// Shapes of models that were measured with the same layout, and what the model says about them.
#pragma once

#include "core/calibration/measured_table.h"
#include "core/search/shapes.h"

namespace fourfold {

struct MeasuredShape {
    const MeasuredRow* row = nullptr;
    double parameters = 0;
    double measured_tps = 0, predicted_tps = 0; // tokens/s of one GPU
    // Time per token and parameter against the best of the group, as loss of speed: 0 for the best.
    double measured_loss = 0, predicted_loss = 0;
    ShapeWaste waste;
};

// Rows with the same layout, batch and GPUs, of one table of the source; at least two shapes.
struct ShapeGroup {
    std::string table;
    std::vector<MeasuredShape> shapes; // fastest measured first
};

// `table` must outlive the groups.
std::vector<ShapeGroup> measured_shapes(const MeasuredTable& table);

// A shape loses more than this against the best of its group: wasteful.
inline constexpr double kWastefulShape = 0.05;

// Over all groups: how often measurement and prediction agree on which shapes are wasteful.
struct ShapeAgreement {
    int shapes = 0, wasteful = 0; // measured
    int found = 0; // of the wasteful ones, predicted so
    int false_alarms = 0; // predicted wasteful, measured not
};
ShapeAgreement agreement(const std::vector<ShapeGroup>& groups);

} // namespace fourfold
