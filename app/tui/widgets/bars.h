// SPDX-License-Identifier: GPL-3.0-or-later
// Bars of cells, to an eighth of a cell where the terminal has colours and Unicode.
#pragma once

#include "app/tui/look.h"

#include <span>

namespace fourfold::tui {

struct BarPart {
    double value = 0;
    Fill fill{Ink::normal, U'\u2588'};
};
// Parts one behind the other, `scale` = the whole width; what is beyond is cut.
void draw_bar(
    Canvas& canvas, int row, int column, int columns, std::span<const BarPart> parts, double scale, const Look& look);
// "█ Weights" and so on, in a line; returns the column behind it.
int draw_legend(Canvas& canvas, int row, int column, const Fill& fill, std::string_view text, const Look& look);

} // namespace fourfold::tui
