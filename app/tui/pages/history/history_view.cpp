// SPDX-License-Identifier: GPL-3.0-or-later
// What the page of the history shows: the runs as a table, with the picture where there is room; the same in lines.
#include "app/tui/linear/spoken.h"
#include "app/tui/pages/history/history_page.h"
#include "app/tui/widgets/plot.h"
#include "app/view/runs/live_run.h"
#include "app/view/text.h"
#include "core/base/text.h"

#include <algorithm>
#include <utility>

namespace fourfold::tui {

using view::RunsList;

namespace {
// With titles that are short enough for a terminal.
struct Shown {
    int column;
    const char* title;
};
constexpr Shown kShown[]{{RunsList::name, "Run"}, {RunsList::model, "Model"}, {RunsList::state, "State"},
    {RunsList::target, "Target"}, {RunsList::layout, "Layout"}, {RunsList::gpus, "GPUs"}, {RunsList::steps, "Steps"},
    {RunsList::predicted_tps, "Predicted"}, {RunsList::measured_tps, "TPS/GPU"}, {RunsList::tps_error, "Error"},
    {RunsList::predicted_memory, "Pred. GiB"}, {RunsList::measured_memory, "GiB"}, {RunsList::most_off, "Most off"},
    {RunsList::loss, "Loss"}, {RunsList::tags, "Tags"}, {RunsList::created, "Date"}};
static_assert(std::size(kShown) == RunsList::columns);

std::string title_of(int column)
{
    return std::ranges::find(kShown, column, &Shown::column)->title;
}
} // namespace

ColumnChoice HistoryPage::first_columns()
{
    std::vector<int> columns;
    for (const Shown& shown : kShown)
        columns.push_back(shown.column);
    // These have no room in a terminal of the usual width.
    return {std::move(columns), RunsList::title,
        {RunsList::model, RunsList::target, RunsList::predicted_memory, RunsList::loss}};
}

std::string HistoryPage::said() const
{
    if (!problem_.empty())
        return problem_;
    if (list_.all().empty())
        return desk_.keyed("No run is stored yet: 4 starts one, `I` takes a published table or exported runs");
    const auto marked = std::count_if(list_.visible().begin(), list_.visible().end(),
        [this](std::size_t at) { return marked_.contains(list_.all()[at].id); });
    return view::grouped(double(list_.visible().size())) + " of " + view::counted(double(list_.all().size()), "run")
        + (marked == 0 ? "" : ", " + view::grouped(double(marked)) + " marked")
        + (filter_.empty() ? "" : "; " + filter_);
}

std::vector<std::string> HistoryPage::lines()
{
    if (shows_curves_)
        return curves_.lines();
    std::vector<std::string> lines{said()};
    const Table table = list_.table();
    speak_rows(lines, table);
    for (std::size_t row = 0; row < std::min(table.rows.size(), lines.size() - 1); ++row) {
        if (marked_.contains(list_.run(row).id) && lines[row + 1].starts_with("Row "))
            lines[row + 1] += ", marked";
    }
    if (const RunSummary* run = chosen())
        lines.push_back("Chosen: " + run->name + ", " + run->id + (marked_.contains(run->id) ? ", marked" : "")
            + (run->problem.empty() ? "" : ": " + run->problem) + (run->note.empty() ? "" : "; " + run->note)
            + "; enter tells all of it");
    return lines;
}

void HistoryPage::draw(Canvas& canvas, const Rect& place, const Look& look)
{
    if (shows_curves_) {
        curves_.draw(canvas, {place.row, place.column + 1, place.rows, place.columns - 2}, look);
        return;
    }
    // A problem is read to its end, also where it begins with a long path.
    const std::vector<std::string> head
        = problem_.empty() ? std::vector<std::string>{said()} : wrapped(problem_, place.columns - 2);
    const int told = std::min(static_cast<int>(head.size()), place.rows / 2);
    for (int row = 0; row < told; ++row)
        canvas.text_in(place.row + row, place.column + 1, place.columns - 2, head[static_cast<std::size_t>(row)],
            problem_.empty() ? kMuted : style_of(view::Tone::bad));
    const bool has_points = !list_.visible().empty();
    const bool high = place.rows >= 26;
    picture_.place = {};
    if (picture_.focused && has_points && !high) { // there is room for one of the two
        table_.hide();
        picture_.place = draw_plot(
            canvas, {place.row + told, place.column + 1, place.rows - told, place.columns - 2}, scatter(), look);
        return;
    }
    const int plot = high && has_points ? std::clamp(place.rows / 3, 8, 16) : 0;
    draw_table(canvas, {place.row + told, place.column + 1, place.rows - 1 - told - plot, place.columns - 2});
    if (const RunSummary* run = chosen())
        canvas.text_in(place.row + place.rows - plot - 1, place.column + 1, place.columns - 2,
            printable(run->id + (run->problem.empty() ? "" : ": " + run->problem)
                + (run->note.empty() ? "" : "; " + run->note)),
            kMuted);
    if (plot > 0)
        picture_.place = draw_plot(
            canvas, {place.row + place.rows - plot, place.column + 1, plot, place.columns - 2}, scatter(), look);
}

void HistoryPage::draw_table(Canvas& canvas, const Rect& place)
{
    const std::vector<int> columns = choice_.columns();
    std::vector<TableView::Column> heads;
    for (const int column : columns)
        heads.push_back({title_of(column), RunsList::is_number(column), 26, column == RunsList::name});
    table_.set_columns(std::move(heads));
    TableView::Content content;
    content.rows = static_cast<int>(list_.visible().size());
    content.sorted = static_cast<int>(std::ranges::find(columns, list_.sort_column()) - columns.begin());
    content.falling = list_.is_falling();
    content.focused = !picture_.focused;
    content.text = [&](int row, int column) {
        return RunsList::text(list_.run(static_cast<std::size_t>(row)), columns[static_cast<std::size_t>(column)]);
    };
    content.style = [&](int row, int column) {
        const RunSummary& run = list_.run(static_cast<std::size_t>(row));
        return columns[static_cast<std::size_t>(column)] == RunsList::state ? style_of(view::state_tone(run.state))
                                                                            : Style{};
    };
    content.marked = [this](int row) { return marked_.contains(list_.run(static_cast<std::size_t>(row)).id); };
    table_.draw(canvas, place, content);
}

} // namespace fourfold::tui
