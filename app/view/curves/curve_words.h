// SPDX-License-Identifier: GPL-3.0-or-later
// What a picture of curves says in words and figures: a line at a place, a prediction, all of it as a table.
#pragma once

#include "app/view/curves/run_curves.h"
#include "core/report/table/table.h"

#include <optional>
#include <string>

namespace fourfold::view {

// The point at or before a place.
struct CurveReading {
    double x = 0, value = 0;
    std::optional<CurveRange> between; // of a group of several runs
};
// `x` empty: the last point. Nothing where the line begins behind it.
std::optional<CurveReading> reading_at(const CurveLine& line, const std::optional<double>& x);
std::string forecast_text(const CurveForecast& forecast); // "predicted 7,255, 90 %: 6,555 to 8,000"
// A row a point: run, place, value, and of groups the least and the most.
Table curve_table(const CurvePicture& picture, CurveAxis axis, CurveMetric metric);

} // namespace fourfold::view
