// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/curves/curve_words.h"

#include "app/view/text.h"

#include <algorithm>

namespace fourfold::view {

std::optional<CurveReading> reading_at(const CurveLine& line, const std::optional<double>& x)
{
    const auto after = x ? std::ranges::upper_bound(line.points, *x, {}, &CurvePoint::first) : line.points.end();
    if (after == line.points.begin())
        return {};
    const std::ptrdiff_t at = after - line.points.begin() - 1;
    const CurvePoint& point = line.points[static_cast<std::size_t>(at)];
    CurveReading reading{point.first, point.second, {}};
    if (line.low.size() == line.points.size() && line.high.size() == line.points.size())
        reading.between
            = CurveRange{line.low[static_cast<std::size_t>(at)].second, line.high[static_cast<std::size_t>(at)].second};
    return reading;
}

std::string forecast_text(const CurveForecast& forecast)
{
    std::string text = "predicted " + significant(forecast.value);
    if (forecast.interval)
        text += ", 90 %: " + significant(forecast.interval->low) + " to " + significant(forecast.interval->high);
    return text;
}

Table curve_table(const CurvePicture& picture, CurveAxis axis, CurveMetric metric)
{
    Table table;
    table.columns = {{"run", "Run"}, {to_text(axis), title_of(axis), -5}, {to_text(metric), title_of(metric), -5},
        {"least", "Least", -5}, {"most", "Most", -5}};
    for (const CurveLine& line : picture.lines) {
        for (std::size_t i = 0; i < line.points.size(); ++i) {
            const auto end = [i](const std::vector<CurvePoint>& points) {
                return points.empty() ? Cell() : Cell(points[i].second);
            };
            table.rows.push_back(
                {line.name, line.points[i].first, line.points[i].second, end(line.low), end(line.high)});
        }
    }
    return table;
}

} // namespace fourfold::view
