// SPDX-License-Identifier: GPL-3.0-or-later
// Points of a plot, each a row of a table beside it: one is chosen by keys, or by the mouse.
#pragma once

#include "app/tui/terminal/key.h"
#include "app/tui/widgets/plot.h"
#include "app/view/points.h"

#include <functional>

namespace fourfold::tui {

class PointPicker {
public:
    bool focused = false; // the plot has the keys
    PlotPlace place; // as drawn last

    enum class Took { no, yes, opens }; // opens: the chosen point is wanted
    // Left and right go from one to the next along the axis; a click chooses the one that is nearest, a second one
    // opens it. `points` of the rows, `selected` the chosen row.
    Took key(const Key& key, const std::function<view::RowPoints()>& points, int& selected);
};

} // namespace fourfold::tui
