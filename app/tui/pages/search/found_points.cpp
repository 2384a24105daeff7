// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/search/found_points.h"

#include "app/view/text.h"

#include <utility>
#include <vector>

namespace fourfold::tui {

using view::Results;

view::RowPoints found_points(const Results& results)
{
    std::vector<view::RowPoint> points;
    for (std::size_t row = 0; row < results.visible().size(); ++row) {
        const std::size_t id = results.visible()[row];
        points.push_back(
            {static_cast<int>(row), results.value(id, Results::memory), results.value(id, Results::throughput)});
    }
    return view::RowPoints(std::move(points));
}

Plot found_front(const Results& results, const std::optional<std::size_t>& chosen, std::size_t most)
{
    Plot plot;
    plot.chart.title = "Tokens/s per GPU over memory";
    plot.key = "\u25cb the Pareto front";
    plot.chart.x_label = "GiB";
    plot.chart.x_text = view::gib;
    plot.chart.y_text = view::throughput_text;
    ChartPoints all, front;
    const std::size_t step = results.visible().size() / most + 1;
    for (std::size_t i = 0; i < results.visible().size(); ++i) {
        const std::size_t id = results.visible()[i];
        const bool is_front = results.is_pareto(id);
        if (is_front || i % step == 0)
            (is_front ? front : all)
                .emplace_back(results.value(id, Results::memory), results.value(id, Results::throughput));
    }
    plot.add("Layouts", std::move(all), ChartSeries::Look::dots, Ink::grey);
    plot.add("Pareto front", std::move(front), ChartSeries::Look::dots, Ink::green, U'\u25cb'); // as in the table
    if (chosen)
        plot.chart.chosen = {results.value(*chosen, Results::memory), results.value(*chosen, Results::throughput)};
    return plot;
}

} // namespace fourfold::tui
