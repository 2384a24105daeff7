// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/history/runs_points.h"

#include "app/view/text.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace fourfold::tui {

view::RowPoints runs_points(const view::RunsList& list)
{
    std::vector<view::RowPoint> points;
    for (std::size_t row = 0; row < list.visible().size(); ++row) {
        const RunSummary& run = list.run(row);
        if (run.measured_tps_per_gpu && run.predicted_tps_per_gpu)
            points.push_back({static_cast<int>(row), *run.measured_tps_per_gpu, *run.predicted_tps_per_gpu});
    }
    return view::RowPoints(std::move(points));
}

Plot runs_scatter(const view::RunsList& list, const RunSummary* chosen)
{
    Plot plot;
    plot.chart.title = "Predicted over measured tokens/s per GPU; the line is where both agree, 10 % on either side";
    plot.chart.x_label = "measured";
    plot.chart.x_text = view::throughput_text;
    plot.chart.y_text = view::throughput_text;
    ChartPoints runs;
    double most = 0;
    for (const std::size_t at : list.visible()) {
        const RunSummary& run = list.all()[at];
        if (!run.measured_tps_per_gpu || !run.predicted_tps_per_gpu)
            continue;
        runs.emplace_back(*run.measured_tps_per_gpu, *run.predicted_tps_per_gpu);
        most = std::max({most, *run.measured_tps_per_gpu, *run.predicted_tps_per_gpu});
    }
    if (most > 0) {
        constexpr double kOff = 0.1; // the band on either side
        plot.add("", {{0, 0}, {most, most}}, ChartSeries::Look::line, Ink::grey);
        plot.add("10 % off", {{0, 0}, {most / (1 + kOff), most}}, ChartSeries::Look::faint, Ink::grey);
        plot.add("", {{0, 0}, {most, most * (1 - kOff)}}, ChartSeries::Look::faint, Ink::grey);
        plot.add("Runs", std::move(runs), ChartSeries::Look::dots, Ink::orange);
    }
    if (chosen != nullptr && chosen->measured_tps_per_gpu && chosen->predicted_tps_per_gpu)
        plot.chart.chosen = {*chosen->measured_tps_per_gpu, *chosen->predicted_tps_per_gpu};
    return plot;
}

} // namespace fourfold::tui
