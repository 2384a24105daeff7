// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/widgets/point_picker.h"

namespace fourfold::tui {

PointPicker::Took PointPicker::key(const Key& key, const std::function<view::RowPoints()>& points, int& selected)
{
    constexpr double kReach = 10; // dots around the mouse
    const bool back = key.code == Key::left || key.is('h'), on = key.code == Key::right || key.is('l');
    int row = -1;
    if (key.code == Key::click && place.cells.contains(key.row, key.column)) {
        row = points().nearest(
            [&](const view::RowPoint& point) { return place.distance(point.x, point.y, key.row, key.column); }, kReach);
        if (row >= 0 && focused && row == selected)
            return Took::opens;
        focused = true;
    } else if (focused && (back || on)) {
        row = points().beside(selected, back ? -1 : 1);
    } else {
        focused = focused && key.code != Key::click; // elsewhere
        return Took::no;
    }
    if (row >= 0)
        selected = row;
    return Took::yes;
}

} // namespace fourfold::tui
