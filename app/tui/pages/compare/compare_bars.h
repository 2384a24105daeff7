// SPDX-License-Identifier: GPL-3.0-or-later
// One figure of all that is compared as bars of its kinds: throughput and MFU, memory by what it holds, the step by its
// exposed parts.
#pragma once

#include "app/tui/look.h"
#include "app/tui/pages/compare/compare_list.h"
#include "app/view/compare/comparison_bars.h"

namespace fourfold::tui {

class CompareBars {
public:
    void next_figure();
    [[nodiscard]] BarChart chart(const CompareEntries& entries) const;
    [[nodiscard]] static BarChart chart(const CompareEntries& entries, view::ComparedFigure figure);
    [[nodiscard]] static int rows_of(const BarChart& chart); // on the screen
    void draw(Canvas& canvas, const Rect& place, const BarChart& chart, const Look& look) const; // of this figure
    [[nodiscard]] int state() const { return static_cast<int>(figure_); }
    void restore(int state);

private:
    view::ComparedFigure figure_ = view::ComparedFigure::throughput;
};

} // namespace fourfold::tui
