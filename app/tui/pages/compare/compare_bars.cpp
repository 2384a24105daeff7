// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/compare/compare_bars.h"

#include "app/tui/pages/plan/memory_kinds.h"
#include "app/tui/pages/plan/part_fills.h"
#include "app/tui/widgets/bars.h"
#include "app/view/prediction/plan_charts.h"

#include <algorithm>
#include <numeric>

namespace fourfold::tui {

namespace {

constexpr int kBarLabel = 30, kBarText = 11;

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

void CompareBars::next_figure()
{
    figure_ = static_cast<view::ComparedFigure>((static_cast<std::size_t>(figure_) + 1) % view::kComparedFigures);
}

void CompareBars::restore(int state)
{
    figure_ = static_cast<view::ComparedFigure>(std::clamp(state, 0, static_cast<int>(view::kComparedFigures) - 1));
}

BarChart CompareBars::chart(const CompareEntries& entries) const
{
    return chart(entries, figure_);
}

BarChart CompareBars::chart(const CompareEntries& entries, view::ComparedFigure figure)
{
    std::vector<view::ComparedEntry> compared;
    for (const CompareEntry& entry : entries)
        compared.push_back({entry.name, entry.prediction.get(), entry.tps_per_gpu()});
    return view::comparison_bars(compared, figure);
}

// A title with the kinds, and a row a bar.
int CompareBars::rows_of(const BarChart& chart)
{
    constexpr std::size_t kMost = 8;
    return static_cast<int>(std::min(chart.rows.size(), kMost)) + 1;
}

void CompareBars::draw(Canvas& canvas, const Rect& place, const BarChart& chart, const Look& look) const
{
    int column = canvas.text(place.row, place.column, chart.title, kBold) + 2;
    for (std::size_t i = 0; i < chart.kinds.size(); ++i) {
        const ChartKind& kind = chart.kinds[i];
        if (column + width_of(kind.name) + 2 > place.column + place.columns)
            break;
        column = draw_legend(canvas, place.row, column, fill_of_kind(figure_, chart, i), kind.name, look);
    }
    double most = 0;
    for (const BarChart::Row& bar : chart.rows)
        most = std::max(most, std::accumulate(bar.parts.begin(), bar.parts.end(), 0.0));
    for (int i = 0; i + 1 < place.rows; ++i) {
        const BarChart::Row& bar = chart.rows[static_cast<std::size_t>(i)];
        const int row = place.row + 1 + i;
        std::vector<BarPart> parts;
        for (std::size_t kind = 0; kind < bar.parts.size(); ++kind)
            parts.push_back({bar.parts[kind], fill_of_kind(figure_, chart, kind)});
        canvas.text_in(row, place.column, kBarLabel, fitted_in_middle(bar.name, kBarLabel));
        draw_bar(
            canvas, row, place.column + kBarLabel + 1, place.columns - kBarLabel - 1 - kBarText, parts, most, look);
        canvas.text_in(row, place.column + place.columns - kBarText + 1, kBarText - 1, bar.text, {}, true);
    }
}

} // namespace fourfold::tui
