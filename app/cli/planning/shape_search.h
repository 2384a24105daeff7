// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold search --shape`: models of one size and different shape.
#pragma once

#include "app/cli/command.h"
#include "core/search/shapes.h"

namespace fourfold::cli {

struct ShapeOptions {
    bool shape = false, with_layouts = false;
    double parameters = 0, tolerance = ShapeSpace{}.tolerance;
    std::string measured;
    void add_to(CLI::App& command);
};

// Takes the axes of the shape (layers, hidden, heads) out of `axes`; the rest is left for the search.
Expected<ShapeSpace> shape_space(const ShapeOptions& options, std::vector<std::string>& axes);

// Searches and prints; the exit status.
int run_shapes(const ShapeRequest& request, int top, TableFormat format);
// Measured shapes beside predicted ones.
Expected<int> run_measured_shapes(const std::string& name, const Presets& presets, TableFormat format);

} // namespace fourfold::cli
