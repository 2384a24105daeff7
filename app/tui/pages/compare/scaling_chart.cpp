// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/compare/scaling_chart.h"

#include "app/tui/linear/spoken.h"
#include "app/tui/pages/compare/table_items.h"
#include "app/tui/widgets/plot.h"
#include "app/tui/widgets/series_look.h"
#include "app/view/text.h"
#include "core/base/json_member.h"
#include "core/calibration/user/evidence.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace fourfold::tui {

ScalingChart::ScalingChart(Desk& desk)
    : desk_(desk)
    , work_(desk.wake())
    , legend_({}, 2)
{
}

void ScalingChart::tick(const std::vector<Compared>& compared)
{
    if (!kept_.empty())
        read(std::exchange(kept_, {}));
    work_.deliver();
    if (compared == compared_)
        return;
    compared_ = compared;
    std::vector<view::ScalingEntry> entries;
    for (const Compared& one : compared_)
        entries.push_back({one.name, one.prediction->plan, one.tps_per_gpu, one.table});
    const view::Predicting predicting
        = desk_.predict() ? view::Predicting(desk_.predict()) : view::Predicting(predict_with_evidence);
    work_.start([this, entries, predicting](const std::stop_token& stop) -> view::Background::Done {
        return [this, series = view::scaling_series(entries, desk_.presets(), predicting, stop)] { series_ = series; };
    });
}

std::vector<view::ScalingSeries> ScalingChart::all() const
{
    std::vector<view::ScalingSeries> all = series_;
    for (const Published& one : published_)
        all.push_back(one.series);
    return all;
}

std::string ScalingChart::said() const
{
    if (work_.is_running())
        return "Predicting...";
    return std::string("Same TP, CP and PP, DP takes up the rest; ")
        + desk_.keyed(published_.empty() ? "`t` adds what a table measured" : "`t` adds a table, `x` removes one");
}

Plot ScalingChart::plot() const
{
    const std::vector<view::ScalingSeries> shown = all();
    Plot plot;
    plot.chart.title = "Tokens/s per GPU over GPUs";
    plot.chart.note = "lines: predicted; letters: measured";
    plot.chart.whole_x = true; // a doubling
    plot.chart.x_label = "GPUs";
    plot.chart.x_text = [](double value) { return view::grouped(std::exp2(value)); };
    plot.chart.y_text = view::throughput_text;
    plot.chart.from_zero = true;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        ChartPoints points;
        for (const auto& [gpus, tps] : shown[i].points)
            points.emplace_back(std::log2(gpus), tps); // as many to each doubling
        plot.add(shown[i].name, std::move(points),
            shown[i].measured ? ChartSeries::Look::dots : ChartSeries::Look::line, series_ink(i), series_mark(i));
    }
    return plot;
}

PlotChart ScalingChart::picture() const
{
    PlotChart chart = plot().chart;
    chart.note = "lines: predicted; points: measured";
    return chart;
}

void ScalingChart::draw(Canvas& canvas, const Rect& place, const Look& look)
{
    canvas.text_in(place.row, place.column, place.columns, said(), kMuted);
    const std::vector<view::ScalingSeries> shown = all();
    const int legend = 1 + std::clamp(static_cast<int>(shown.size()), 1, std::max(3, place.rows / 3));
    draw_plot(canvas, {place.row + 1, place.column, place.rows - 1 - legend, place.columns}, plot(), look);
    legend_.set_columns({{"", false, 1}, {"Series", false, std::max(30, place.columns - 36)}, {"GPUs", true, 16},
        {"TPS/GPU", true, 16}});
    TableView::Content content;
    content.rows = static_cast<int>(shown.size());
    content.text = [&](int row, int column) -> std::string {
        const view::ScalingSeries& series = shown[static_cast<std::size_t>(row)];
        const auto ends = [&](auto text, auto figure) {
            const std::string first = text(series.points.front().*figure), last = text(series.points.back().*figure);
            return series.points.size() == 1 ? first : first + " to " + last;
        };
        std::string mark;
        switch (column) {
        case 0:
            append_utf8(mark, series_mark(static_cast<std::size_t>(row)));
            return mark;
        case 1:
            return series.name;
        case 2:
            return ends([](double value) { return view::grouped(value); }, &std::pair<double, double>::first);
        default:
            return ends(view::throughput_text, &std::pair<double, double>::second);
        }
    };
    content.style = [](int row, int column) {
        return column == 0 ? Style{series_ink(static_cast<std::size_t>(row)), Ink::normal, true} : Style{};
    };
    legend_.draw(canvas, {place.row + place.rows - legend, place.column, legend, place.columns}, content);
}

std::string ScalingChart::chosen() const
{
    const std::vector<view::ScalingSeries> shown = all();
    const auto row = static_cast<std::size_t>(legend_.list.selected);
    return row < shown.size() ? shown[row].name : std::string();
}

bool ScalingChart::key(const Key& key)
{
    if (key.is('t')) {
        ask_table();
    } else if (key.is('x') || key.code == Key::erase) {
        const auto row = static_cast<std::size_t>(legend_.list.selected);
        if (row >= series_.size() && row - series_.size() < published_.size())
            published_.erase(published_.begin() + static_cast<std::ptrdiff_t>(row - series_.size()));
        else
            desk_.tell(desk_.keyed("`x` removes a table's series; entries of the comparison go in the table (`s`)"));
    } else if (key.is('e')) {
        desk_.exports().ask(
            "scaling", [this] { return table(); }, Picture([this] { return Chart(picture()); }));
    } else {
        return legend_.key(key, static_cast<int>(series_.size() + published_.size()));
    }
    return true;
}

void ScalingChart::ask_table()
{
    desk_.open(std::make_unique<Picker>(
        "What a table measured", table_items(desk_, [this](const std::filesystem::path& table) { add_table(table); })));
}

void ScalingChart::add_table(const std::filesystem::path& file)
{
    const Expected<MeasuredTable> table = view::read_table(file, desk_.presets());
    if (!table) {
        desk_.tell(table.error().line(), view::Tone::bad);
        return;
    }
    std::vector<const ResolvedPlan*> plans;
    for (const Compared& one : compared_)
        plans.push_back(&one.prediction->plan);
    std::error_code error;
    const std::filesystem::path kept = std::filesystem::absolute(file, error);
    std::size_t added = 0;
    for (const view::TableJob& job : view::jobs_beside(*table, plans)) {
        view::ScalingSeries series = view::series_of(*table, job);
        const view::SeriesOrigin origin{kept, job.name};
        if (std::ranges::find(published_, origin, &Published::origin) != published_.end())
            continue;
        published_.push_back({origin, std::move(series)});
        ++added;
    }
    desk_.tell(view::counted(double(added), "series", "series") + " added");
}

// What is gone since is left out.
void ScalingChart::read(const std::vector<view::SeriesOrigin>& origins)
{
    std::map<std::filesystem::path, std::vector<view::TableJob>> jobs; // by file: one is read for all of its series
    std::map<std::filesystem::path, MeasuredTable> tables;
    for (const view::SeriesOrigin& origin : origins) {
        const auto [at, is_new] = jobs.try_emplace(origin.table);
        if (is_new) {
            if (Expected<MeasuredTable> table = view::read_table(origin.table, desk_.presets())) {
                at->second = view::jobs_of(*table);
                tables[origin.table] = *std::move(table);
            }
        }
        for (const view::TableJob& job : at->second) {
            if (job.name == origin.job && !job.best.empty())
                published_.push_back({origin, view::series_of(tables[origin.table], job)});
        }
    }
}

void ScalingChart::show(const std::vector<view::SeriesOrigin>& origins)
{
    kept_ = origins;
    published_.clear();
}

std::vector<view::SeriesOrigin> ScalingChart::origins() const
{
    std::vector<view::SeriesOrigin> origins;
    for (const Published& one : published_)
        origins.push_back(one.origin);
    origins.insert(origins.end(), kept_.begin(), kept_.end());
    return origins;
}

Json ScalingChart::state() const
{
    Json kept = Json::array();
    for (const view::SeriesOrigin& origin : origins())
        kept.push_back({{"file", origin.table.string()}, {"job", origin.job}});
    return kept;
}

void ScalingChart::restore(const Json& state)
{
    kept_.clear();
    for (const Json& one : state.is_array() ? state : Json::array()) {
        if (one.is_object())
            kept_.push_back({member_or(one, "file", std::string()), member_or(one, "job", std::string())});
    }
}

Table ScalingChart::table() const
{
    Table table;
    table.columns = {{"series", "Series"}, {"measured", "Measured"}, {"gpus", "GPUs"}, {"tps_per_gpu", "TPS/GPU", 1}};
    for (const view::ScalingSeries& series : all()) {
        for (const auto& [gpus, tps] : series.points)
            table.rows.push_back({series.name, std::string(series.measured ? "yes" : "no"), gpus, tps});
    }
    return table;
}

std::vector<std::string> ScalingChart::lines()
{
    std::vector<std::string> lines{said()};
    speak_rows(lines, table(), -1, 100);
    return lines;
}

} // namespace fourfold::tui
