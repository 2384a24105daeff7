// SPDX-License-Identifier: GPL-3.0-or-later
// What the page of runs shows: the question of a run, or its figures, charts and log.
#include "app/tui/pages/runs/runs_page.h"
#include "app/tui/widgets/plot.h"
#include "app/view/plan/facts.h"
#include "app/view/text.h"
#include "core/base/text.h"
#include "runner/sweep/sweep_table.h"

#include <algorithm>

namespace fourfold::tui {

void RunsPage::draw(Canvas& canvas, const Rect& place, const Look& look)
{
    draw_question(canvas, place);
    const std::array<view::Figure, 5> figures = run_.figures();
    int row = place.row + 2;
    for (const view::Figure& figure : figures) {
        canvas.text(row, place.column + 1, figure.title, kMuted);
        canvas.text_in(row, place.column + 14, 14,
            figure.value + (figure.unit.starts_with("of ") ? " " + figure.unit : ""),
            {style_of(figure.tone).ink, Ink::normal, true});
        const std::string rest
            = figure.basis + (figure.basis.empty() || figure.confidence.empty() ? "" : "; ") + figure.confidence;
        canvas.text_in(row++, place.column + 29, place.columns - 30, rest, kMuted);
    }
    if (!run_.link_trouble().empty())
        canvas.text_in(row++, place.column + 1, place.columns - 2, run_.link_trouble(), style_of(view::Tone::warning));
    const int left = place.row + place.rows - row - 1;
    const int plot_rows = std::clamp(left * 3 / 5, 0, 18);
    if (sweep_ && plot_rows >= 4) {
        std::vector<std::string> lines = wrapped(sweep_table(*sweep_).write(TableFormat::text), place.columns - 2);
        canvas.text_in(row + 1, place.column + 1, place.columns - 2, sweep_text_, kBold);
        for (int i = 0; i + 1 < plot_rows && i < static_cast<int>(lines.size()); ++i)
            canvas.text_in(row + 2 + i, place.column + 1, place.columns - 2, lines[static_cast<std::size_t>(i)]);
        row += plot_rows + 1;
    } else if (plot_rows >= 6) {
        draw_charts(canvas, {row + 1, place.column + 1, plot_rows, place.columns - 2}, look);
        row += plot_rows + 1;
    }
    const int lines = place.row + place.rows - row - 1;
    const auto count = static_cast<int>(run_.log().size());
    for (int i = 0; i < std::min(lines, count); ++i) {
        const view::LogLine& line = run_.log()[static_cast<std::size_t>(count - std::min(lines, count) + i)];
        const int at = row + 1 + i;
        canvas.text_in(at, place.column + 1, 8, line.time, kMuted);
        canvas.text_in(at, place.column + 10, 13, line.kind, style_of(line.tone));
        canvas.text_in(at, place.column + 24, place.columns - 25, line.text);
    }
}

// Two beside each other; four where there is room for two rows of them, or for all in one.
void RunsPage::draw_charts(Canvas& canvas, const Rect& place, const Look& look) const
{
    struct Chart {
        const char* title;
        const view::Series& series;
        Ink ink;
        std::string (*text)(double);
        std::optional<double> expected;
    };
    const view::RunExpectation& expected = run_.expectation();
    const auto per_cent = [](double value) { return view::grouped(value, 1); };
    const Chart charts[]{{"Tokens/s per GPU; grey: predicted", run_.throughput(), Ink::blue, view::throughput_text,
                             expected.tps_per_gpu},
        {"Loss", run_.loss(), Ink::vermilion, [](double value) { return view::grouped(value, 3); }, {}},
        {"Memory, GiB", run_.memory(), Ink::green, view::gib, expected.memory_gib},
        {"MFU, %", run_.mfu(), Ink::purple, per_cent,
            expected.mfu ? std::optional(*expected.mfu * 100) : std::nullopt}};
    constexpr int kWide = 170, kHigh = 13;
    const int across = place.columns >= kWide ? 4 : 2, down = across == 2 && place.rows >= kHigh ? 2 : 1;
    const int columns = place.columns / across, rows = place.rows / down;
    for (int i = 0; i < across * down; ++i) {
        const Chart& chart = charts[i];
        Plot plot;
        plot.title = chart.title;
        plot.x_label = "step";
        plot.x_text = [](double value) { return view::grouped(value); };
        plot.y_text = chart.text;
        if (!chart.series.empty()) {
            const std::vector<view::Series::Point> points = chart.series.points();
            if (chart.expected)
                plot.series.push_back(
                    {{{points.front().first, *chart.expected}, {points.back().first, *chart.expected}}, Ink::grey});
            plot.series.push_back({points, chart.ink});
        }
        draw_plot(canvas, {place.row + i / across * rows, place.column + i % across * columns, rows, columns - 2}, plot,
            look);
    }
}

void RunsPage::draw_question(Canvas& canvas, const Rect& place)
{
    int column = place.column + 1;
    if (job_.is_running() || run_.has_run()) {
        column = canvas.text(place.row, column, run_.title().empty() ? "Run" : run_.title(), kBold);
        canvas.text_in(place.row, column + 2, place.columns - column - 3, run_.folder().string(), kMuted);
        return;
    }
    column = canvas.text(place.row, column, "t", kHeading);
    column = canvas.text(place.row, column, " on ", kMuted);
    column = canvas.text(place.row, column, target_text(), kBold);
    column = canvas.text(place.row, column, "  n", kHeading);
    column = canvas.text(place.row, column, " for ", kMuted);
    column = canvas.text(place.row, column, steps_ > 0 ? view::counted(steps_, "step") : "the plan's steps", kBold);
    const std::optional<ResolvedPlan>& plan = desk_.plan().state().resolved();
    if (plan)
        canvas.text_in(place.row, column + 2, place.columns - column - 3,
            plan->model.name + ", " + view::layout_line(plan->layout), kMuted);
}

} // namespace fourfold::tui
