// SPDX-License-Identifier: GPL-3.0-or-later
// The runs as points, predicted over measured, which are chosen by keys and mouse; what of them goes to the clipboard.
#include "app/tui/pages/history/history_page.h"
#include "app/view/command_line.h"
#include "app/view/text.h"

#include <algorithm>

namespace fourfold::tui {

using view::RunsList;

Plot HistoryPage::scatter() const
{
    Plot plot;
    plot.chart.title = "Predicted over measured tokens/s per GPU; the line is where both agree, 10 % on either side";
    plot.chart.x_label = "measured";
    plot.chart.x_text = view::throughput_text;
    plot.chart.y_text = view::throughput_text;
    ChartPoints runs;
    double most = 0;
    for (const std::size_t at : list_.visible()) {
        const RunSummary& run = list_.all()[at];
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
    const RunSummary* run = chosen();
    if (run != nullptr && run->measured_tps_per_gpu && run->predicted_tps_per_gpu)
        plot.chart.chosen = {*run->measured_tps_per_gpu, *run->predicted_tps_per_gpu};
    return plot;
}

view::RowPoints HistoryPage::points() const
{
    std::vector<view::RowPoint> points;
    for (std::size_t row = 0; row < list_.visible().size(); ++row) {
        const RunSummary& run = list_.run(row);
        if (run.measured_tps_per_gpu && run.predicted_tps_per_gpu)
            points.push_back({static_cast<int>(row), *run.measured_tps_per_gpu, *run.predicted_tps_per_gpu});
    }
    return view::RowPoints(std::move(points));
}

void HistoryPage::sort_by(int column)
{
    list_.sort(column, column == list_.sort_column() ? !list_.is_falling() : column >= RunsList::gpus);
}

// What the chosen point is.
std::string HistoryPage::remark() const
{
    if (shows_curves_)
        return curves_.chosen_place();
    const RunSummary* const run = chosen();
    if (!picture_.focused || run == nullptr)
        return {};
    if (!run->measured_tps_per_gpu || !run->predicted_tps_per_gpu)
        return run->name + ": nothing was measured of it, or predicted";
    return run->name + ", " + run->layout + ": measured " + view::throughput_text(*run->measured_tps_per_gpu)
        + ", predicted " + view::throughput_text(*run->predicted_tps_per_gpu) + " TPS/GPU ("
        + view::signed_percent(*run->predicted_tps_per_gpu / *run->measured_tps_per_gpu - 1) + ")";
}

std::vector<Copy> HistoryPage::copies()
{
    const std::vector<RunSummary> runs = meant();
    if (runs.empty())
        return {};
    std::vector<std::string> words{"history", runs.size() == 1 ? "show" : "compare"};
    for (const RunSummary& run : runs)
        words.push_back(run.id);
    return {{"The id of the chosen run", [id = runs.front().id] { return id; }},
        {"The table", [this] { return spreadsheet_rows(list_.table()); }},
        {runs.size() == 1 ? "The command that shows the run" : "The command that compares the marked runs",
            [words] { return view::command_line(words); }}};
}

} // namespace fourfold::tui
