// SPDX-License-Identifier: GPL-3.0-or-later
// What the page of the comparison shows, and its report.
#include "app/tui/pages/compare/compare_page.h"
#include "app/tui/pages/plan/memory_kinds.h"
#include "app/tui/pages/plan/part_fills.h"
#include "app/tui/widgets/bars.h"
#include "app/view/answer.h"
#include "app/view/compare/comparison.h"
#include "app/view/prediction/plan_charts.h"
#include "app/view/text.h"

#include <algorithm>
#include <numeric>

namespace fourfold::tui {

namespace {

constexpr int kBarLabel = 30, kBarText = 11, kEntryColumns = 34;

Fill fill_of_kind(view::ComparedFigure figure, const BarChart& chart, std::size_t kind)
{
    if (figure == view::ComparedFigure::memory)
        return kMemoryLooks[kind].fill;
    if (figure == view::ComparedFigure::step_time) {
        for (int part = 0; part < kParts; ++part) {
            if (chart.kinds[kind].name == view::part_label(static_cast<Part>(part)))
                return fill_of(static_cast<Part>(part));
        }
    }
    return kind == 0 ? Fill{Ink::blue, U'#'} : Fill{Ink::orange, U'='};
}

} // namespace

void ComparePage::draw(Canvas& canvas, const Rect& place, const Look& look)
{
    if (shown_ == Shown::sweep) {
        sweep_.draw(canvas, {place.row, place.column + 1, place.rows, place.columns - 2});
        return;
    }
    if (shown_ == Shown::scaling) {
        scaling_.draw(canvas, {place.row, place.column + 1, place.rows, place.columns - 2}, look);
        return;
    }
    const std::vector<Entry> all = this->all();
    const Table entries = table(all);
    if (entries.rows.empty()) {
        canvas.text(place.row + 1, place.column + 1, "No plan that has an answer", kMuted);
        return;
    }
    const std::size_t reference = this->reference(all);
    canvas.text_in(place.row, place.column + 1, place.columns - 2,
        all.size() == 1
            ? desk_.keyed("`a` adds stored runs, other plans, published rows; a search adds layouts with `C`")
            : "Others against " + all[reference].name + (differences_only_ ? "; differences only" : ""),
        kMuted);
    if (shown_ == Shown::timelines && timelines(all).size() < 2) {
        canvas.text_in(place.row + 1, place.column + 1, place.columns - 2,
            desk_.keyed("Two timelines are needed: `a` adds another"), kMuted);
        return;
    }
    if (shown_ == Shown::timelines) {
        timelines_.draw(canvas, {place.row + 1, place.column + 1, place.rows - 1, place.columns - 2}, timelines(all),
            reference, look);
        return;
    }
    const Table side = view::side_by_side(entries, differences_only_, reference);
    std::vector<TableView::Column> heads;
    for (const Column& column : side.columns)
        heads.push_back({fitted_in_middle(column.title.empty() ? column.key : column.title, kEntryColumns),
            heads.size() > 1, kEntryColumns});
    table_view_.set_columns(std::move(heads));
    TableView::Content content;
    content.rows = static_cast<int>(side.rows.size());
    content.text = [&](int row, int column) {
        return shown(side.rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)],
            side.columns[static_cast<std::size_t>(column)]);
    };
    content.style = [&](int, int column) { return column == static_cast<int>(reference) + 2 ? kBold : Style{}; };
    const bool has_bars = all.size() > 1 && place.rows > 20;
    const BarChart chart = has_bars ? bars(all, bar_figure_) : BarChart();
    const int rows = has_bars ? rows_of(chart) : 0;
    table_view_.draw(canvas, {place.row + 1, place.column + 1, place.rows - 1 - rows, place.columns - 2}, content);
    if (has_bars)
        draw_bars(canvas, {place.row + place.rows - rows, place.column + 1, rows, place.columns - 2}, chart, look);
}

// A title with the kinds, and a row a bar.
int ComparePage::rows_of(const BarChart& chart)
{
    constexpr std::size_t kMost = 8;
    return static_cast<int>(std::min(chart.rows.size(), kMost)) + 1;
}

void ComparePage::draw_bars(Canvas& canvas, const Rect& place, const BarChart& chart, const Look& look) const
{
    int column = canvas.text(place.row, place.column, chart.title, kBold) + 2;
    for (std::size_t i = 0; i < chart.kinds.size(); ++i) {
        const ChartKind& kind = chart.kinds[i];
        if (column + width_of(kind.name) + 2 > place.column + place.columns)
            break;
        column = draw_legend(canvas, place.row, column, fill_of_kind(bar_figure_, chart, i), kind.name, look);
    }
    double most = 0;
    for (const BarChart::Row& bar : chart.rows)
        most = std::max(most, std::accumulate(bar.parts.begin(), bar.parts.end(), 0.0));
    for (int i = 0; i + 1 < place.rows; ++i) {
        const BarChart::Row& bar = chart.rows[static_cast<std::size_t>(i)];
        const int row = place.row + 1 + i;
        std::vector<BarPart> parts;
        for (std::size_t kind = 0; kind < bar.parts.size(); ++kind)
            parts.push_back({bar.parts[kind], fill_of_kind(bar_figure_, chart, kind)});
        canvas.text_in(row, place.column, kBarLabel, fitted_in_middle(bar.name, kBarLabel));
        draw_bar(
            canvas, row, place.column + kBarLabel + 1, place.columns - kBarLabel - 1 - kBarText, parts, most, look);
        canvas.text_in(row, place.column + place.columns - kBarText + 1, kBarText - 1, bar.text, {}, true);
    }
}

BarChart ComparePage::bars(const std::vector<Entry>& all, view::ComparedFigure figure)
{
    std::vector<view::ComparedEntry> entries;
    for (const Entry& entry : all)
        entries.push_back(
            {entry.name, entry.prediction.get(), entry.measured ? entry.measured->measured_tps_per_gpu : std::nullopt});
    return view::comparison_bars(entries, figure);
}

std::vector<Copy> ComparePage::copies()
{
    if (shown_ == Shown::sweep)
        return {{"The map of layouts", [this] { return sweep_.copied(); }}};
    if (shown_ == Shown::scaling)
        return {{"The scaling", [this] { return spreadsheet_rows(scaling_.table()); }}};
    if (shown_ == Shown::timelines)
        return {{"The difference of the timelines", [this] {
                     const std::vector<Entry> compared = all();
                     return timelines_.said(timelines(compared), reference(compared));
                 }}};
    return {{"The table as it is on show",
                [this] {
                    const std::vector<Entry> compared = all();
                    return spreadsheet_rows(
                        view::side_by_side(table(compared), differences_only_, reference(compared)));
                }},
        {"The table, a row an entry", [this] { return spreadsheet_rows(table(all())); }}};
}

// The table and the charts; of two timelines both, of a sweep its map.
ReportPage ComparePage::report()
{
    ReportPage page;
    const std::vector<Entry> compared = all();
    const std::size_t reference = this->reference(compared);
    if (shown_ == Shown::sweep) {
        const TileChart map = sweep_.picture();
        page = {map.title, {map.note}, {{Chart(map), 900}}};
    } else if (shown_ == Shown::scaling) {
        const PlotChart scaling = scaling_.picture();
        page = {scaling.title, {}, {{Chart(scaling), 480}}};
    } else if (shown_ == Shown::timelines && !compared.empty()) {
        page.title = "Two timelines";
        const std::vector<NamedTimeline> timelines = ComparePage::timelines(compared);
        page.lines.push_back(timelines_.said(timelines, reference));
        ReportTimelines both;
        for (const std::size_t at : timelines_.on_show(timelines.size(), reference))
            both.push_back({timelines[at].timeline, timelines[at].name});
        page.parts.push_back({std::move(both), 640});
    } else if (!compared.empty()) {
        page.title = "Comparison of " + view::counted(double(compared.size()), "entry", "entries");
        page.lines.push_back("Differences against " + compared[reference].name);
        for (const Entry& entry : compared) {
            for (const std::string& warning : entry.prediction->warnings)
                page.lines.push_back("Warning for " + entry.name + ": " + warning);
        }
        page.parts.push_back({view::side_by_side(table(compared), differences_only_, reference)});
        for (std::size_t i = 0; i < view::kComparedFigures; ++i) {
            BarChart chart = bars(compared, static_cast<view::ComparedFigure>(i));
            const double height = 75 + 30 * double(chart.rows.size());
            page.parts.push_back({Chart(std::move(chart)), height, true});
        }
    }
    page.lines.push_back(view::report_day());
    return page;
}

} // namespace fourfold::tui
