// SPDX-License-Identifier: GPL-3.0-or-later
// What the page of the comparison shows, and its report.
#include "app/tui/pages/compare/compare_page.h"
#include "app/tui/widgets/bars.h"
#include "app/view/compare/comparison.h"
#include "app/view/prediction/plan_charts.h"
#include "app/view/text.h"

#include <algorithm>

namespace fourfold::tui {

namespace {

struct BarFigure {
    const char* title;
    std::optional<double> (*of)(const Prediction& prediction);
    std::string (*text)(double value);
};
constexpr BarFigure kFigures[ComparePage::kBarFigures]{
    {"Tokens/s per GPU, predicted", [](const Prediction& p) { return p.tps_per_gpu; }, view::throughput_text},
    {"MFU, %, predicted", [](const Prediction& p) { return p.mfu; }, [](double share) { return view::percent(share); }},
    {"GiB per GPU, predicted", [](const Prediction& p) { return p.memory_gib; }, view::gib},
    {"Step time, predicted", [](const Prediction& p) { return p.step_time_s; }, view::duration},
    {"Exposed communication of a step, predicted",
        [](const Prediction& p) -> std::optional<double> {
            return p.time_by_part[Part::tp] + p.time_by_part[Part::cp] + p.time_by_part[Part::pp]
                + p.time_by_part[Part::dp] + p.time_by_part[Part::ep];
        },
        view::duration}};

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
    const Table entries = table();
    if (entries.rows.empty()) {
        canvas.text(place.row + 1, place.column + 1, "No plan that has an answer", kMuted);
        return;
    }
    const std::size_t reference = this->reference(all());
    const auto name_of = [&](std::size_t i) { return std::get<std::string>(entries.rows[i].front()); };
    canvas.text_in(place.row, place.column + 1, place.columns - 2,
        entries.rows.size() == 1
            ? "a adds stored runs, other plans, published rows; a search adds layouts with C"
            : "Others against " + name_of(reference) + (differences_only_ ? "; differences only" : ""),
        kMuted);
    if (shown_ == Shown::timelines) {
        timelines_.draw(
            canvas, {place.row + 1, place.column + 1, place.rows - 1, place.columns - 2}, timelines(), reference, look);
        return;
    }
    const Table side = view::side_by_side(entries, differences_only_, reference);
    std::vector<TableView::Column> heads;
    for (const Column& column : side.columns)
        heads.push_back({column.title.empty() ? column.key : column.title, heads.size() > 1, 34});
    table_view_.set_columns(std::move(heads));
    TableView::Content content;
    content.rows = static_cast<int>(side.rows.size());
    content.text = [&](int row, int column) {
        return shown(side.rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)],
            side.columns[static_cast<std::size_t>(column)]);
    };
    content.style = [&](int, int column) { return column == static_cast<int>(reference) + 2 ? kBold : Style{}; };
    const int count = static_cast<int>(entries.rows.size());
    const int bars = count > 1 && place.rows > 20 ? std::min(count, 6) + 1 : 0;
    table_view_.draw(canvas, {place.row + 1, place.column + 1, place.rows - 1 - bars, place.columns - 2}, content);
    if (bars == 0)
        return;
    int row = place.row + place.rows - bars;
    const BarChart chart = this->bars(bar_figure_);
    canvas.text(row++, place.column + 1, chart.title, kBold);
    double most = 0;
    for (const BarChart::Row& bar : chart.rows)
        most = std::max(most, bar.parts.front());
    for (std::size_t i = 0; i < static_cast<std::size_t>(bars - 1); ++i, ++row) {
        canvas.text_in(row, place.column + 1, 30, chart.rows[i].name);
        const BarPart part[]{{chart.rows[i].parts.front(), {Ink::blue, U'#'}}};
        draw_bar(canvas, row, place.column + 32, place.columns - 44, part, most, look);
        canvas.text_in(row, place.column + place.columns - 11, 10, chart.rows[i].text, {}, true);
    }
}

BarChart ComparePage::bars(std::size_t number) const
{
    const BarFigure& figure = kFigures[number];
    BarChart chart{figure.title, "", {{"", okabe::kBlue}}, {}, {}};
    for (const Entry& entry : all()) {
        const double value = figure.of(*entry.prediction).value_or(0);
        chart.rows.push_back({entry.name, {value}, figure.text(value)});
    }
    return chart;
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
        const std::vector<NamedTimeline> timelines = this->timelines();
        page.lines.push_back(timelines_.said(timelines, reference));
        for (const std::size_t at : timelines_.on_show(timelines.size(), reference))
            page.parts.push_back(
                {ReportTimeline{std::make_shared<const Timeline>(*timelines[at].timeline), timelines[at].name}, 320});
    } else if (!compared.empty()) {
        page.title = "Comparison of " + view::counted(double(compared.size()), "entry", "entries");
        page.lines.push_back("Differences against " + compared[reference].name);
        for (const Entry& entry : compared) {
            for (const std::string& warning : entry.prediction->warnings)
                page.lines.push_back("Warning for " + entry.name + ": " + warning);
        }
        page.parts.push_back({view::side_by_side(table(), differences_only_, reference)});
        for (std::size_t i = 0; i < std::size(kFigures); ++i)
            page.parts.push_back({Chart(bars(i)), 60 + 30 * double(compared.size()), true});
    }
    page.lines.push_back(view::report_day());
    return page;
}

} // namespace fourfold::tui
