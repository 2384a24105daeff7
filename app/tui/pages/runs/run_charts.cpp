// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/runs/run_charts.h"

#include "app/view/text.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace fourfold::tui {

namespace {

std::optional<view::Series::Point> last_before(const std::vector<view::Series::Point>& points, double x)
{
    const auto after = std::ranges::upper_bound(points, x, {}, &view::Series::Point::first);
    return after == points.begin() ? std::nullopt : std::optional(*(after - 1));
}

// A row a point.
Table table_of(const Plot& plot)
{
    Table table;
    table.columns = {{"step", "Step"}, {"series", "Series"}, {"value", plot.chart.title, -6}};
    for (const ChartSeries& series : plot.chart.series) {
        for (const auto& [step, value] : series.points)
            table.rows.push_back({step, series.name, value});
    }
    return table;
}

} // namespace

bool RunCharts::let_go()
{
    return std::exchange(cursor_, std::nullopt).has_value();
}

std::vector<RunCharts::Curve> RunCharts::curves() const
{
    const view::RunExpectation& expected = run_.expectation();
    const auto per_cent = [](double value) { return view::grouped(value, 1); };
    const auto plot_of = [this](const char* title, const view::Series& series, Ink ink, std::string (*text)(double),
                             const std::optional<double>& predicted, const view::RankSpread* spread = nullptr,
                             const char* worst = "") {
        Plot plot;
        plot.chart.title = title;
        plot.chart.x_label = "step";
        plot.chart.x_text = [](double value) { return view::grouped(value); };
        plot.chart.y_text = text;
        plot.chart.whole_x = true;
        plot.cursor = cursor_;
        if (series.empty())
            return plot;
        const std::vector<view::Series::Point> points = series.points();
        if (predicted)
            plot.add("Predicted", {{points.front().first, *predicted}, {points.back().first, *predicted}},
                ChartSeries::Look::line, Ink::grey, U'p');
        if (spread != nullptr && !spread->least.empty()) {
            plot.add("Lowest to highest rank", spread->least.points(), ChartSeries::Look::faint, ink);
            plot.add("", spread->greatest.points(), ChartSeries::Look::faint, ink);
        }
        plot.add("Measured", points, ChartSeries::Look::line, ink);
        const std::string rank = spread == nullptr ? std::string() : run_.rank_name(spread->worst_rank);
        plot.chart.note = rank.empty() ? std::string() : worst + (": " + rank);
        if (const auto at = cursor_ ? last_before(points, *cursor_) : std::nullopt)
            plot.chart.note = "step " + view::grouped(at->first) + ": " + text(at->second);
        return plot;
    };
    std::vector<Curve> curves{{"throughput",
                                  plot_of("Tokens/s per GPU", run_.throughput(), Ink::blue, view::throughput_text,
                                      expected.tps_per_gpu, &run_.throughput_over_ranks(), "slowest")},
        {"loss",
            plot_of("Loss", run_.loss(), Ink::vermilion, [](double value) { return view::grouped(value, 3); }, {})},
        {"memory",
            plot_of("Memory, GiB", run_.memory(), Ink::green, view::gib, expected.memory_gib, &run_.memory_over_ranks(),
                "most")},
        {"mfu",
            plot_of("MFU, %", run_.mfu(), Ink::purple, per_cent,
                expected.mfu ? std::optional(*expected.mfu * 100) : std::nullopt, &run_.mfu_over_ranks(), "slowest")}};
    if (expected.tps_interval)
        curves[0].plot.chart.band = {expected.tps_interval->low, expected.tps_interval->high};
    if (expected.tps_per_gpu)
        curves[0].plot.key = "p: predicted";
    Plot& loss = curves[1].plot;
    if (!expected.loss.empty() && !run_.loss().empty()) {
        loss.key = "e: expected";
        loss.add("Expected: " + expected.loss_of, expected.loss, ChartSeries::Look::faint, Ink::grey, U'e');
        loss.chart.x_range = {run_.loss().points().front().first,
            std::max<double>(run_.total_steps(), run_.loss().last().first)}; // it may go on behind this run's end
    }
    if (!run_.eval_loss().empty())
        loss.add("Held-out", run_.eval_loss().points(), ChartSeries::Look::dots, Ink::orange);
    if (run_.busiest_expert().empty())
        return curves;
    // Before the last: that one follows the throughput, and there may be no room for five.
    Curve experts{"experts",
        plot_of("Busiest expert, times the mean", run_.busiest_expert(), Ink::orange,
            [](double value) { return view::grouped(value, 2); }, {})};
    if (!cursor_)
        experts.plot.chart.note = run_.experts_text();
    curves.insert(curves.end() - 1, std::move(experts));
    return curves;
}

// By a twentieth of what there is, a step at least.
void RunCharts::move_cursor(int step)
{
    const view::Series& steps = run_.loss().empty() ? run_.throughput() : run_.loss();
    if (steps.empty())
        return;
    const double first = steps.points().front().first, last = steps.last().first;
    const double by = std::max(1.0, std::round((last - first) / 20));
    cursor_ = std::clamp(cursor_ ? *cursor_ + step * by : step > 0 ? first : last, first, last);
}

// Two beside each other; four where there is room for two rows of them, or for all in one.
void RunCharts::draw(Canvas& canvas, const Rect& place, const Look& look)
{
    constexpr int kWide = 170, kHigh = 13;
    const int across = place.columns >= kWide ? 4 : 2, down = across == 2 && place.rows >= kHigh ? 2 : 1;
    plots_.clear();
    const int columns = place.columns / across, rows = place.rows / down;
    const std::vector<Curve> curves = this->curves();
    for (int i = 0; i < across * down; ++i)
        plots_.push_back(
            draw_plot(canvas, {place.row + i / across * rows, place.column + i % across * columns, rows, columns - 2},
                curves[static_cast<std::size_t>(i)].plot, look));
}

bool RunCharts::point_at(const Key& key)
{
    const PlotPlace* const found = plot_at(plots_, key);
    if (found == nullptr)
        return false;
    cursor_ = std::round(found->x_at(key.column)); // a step
    return true;
}

Table RunCharts::table() const
{
    Table all;
    all.columns = {{"chart", "Chart"}, {"step", "Step"}, {"series", "Series"}, {"value", "Value", -6}};
    for (const auto& [name, plot] : curves()) {
        for (const std::vector<fourfold::Cell>& row : table_of(plot).rows)
            all.rows.push_back({plot.chart.title, row[0], row[1], row[2]});
    }
    return all;
}

void RunCharts::ask_to_export()
{
    std::vector<Picker::Item> items;
    const std::vector<Curve> curves = this->curves();
    for (std::size_t i = 0; i < curves.size(); ++i) {
        if (!curves[i].plot.chart.series.empty())
            items.push_back({curves[i].plot.chart.title, "", [this, i, name = curves[i].name] {
                                 desk_.exports().ask(
                                     name, [this, i] { return table_of(this->curves()[i].plot); },
                                     Picture([this, i] { return Chart(this->curves()[i].plot.chart); }));
                             }});
    }
    if (items.empty())
        desk_.tell(desk_.keyed("Steps of a run are drawn here as they come; then `e` writes them"));
    else
        desk_.open(std::make_unique<Picker>("Export which curve", std::move(items)));
}

} // namespace fourfold::tui
