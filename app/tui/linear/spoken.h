// SPDX-License-Identifier: GPL-3.0-or-later
// Tables and figures as sentences: what a person who has a page read out can follow without seeing columns.
#pragma once

#include "app/view/answer.h"
#include "core/report/table/table.h"

#include <string>
#include <vector>

namespace fourfold::tui {

// "Memory: 27.8 GiB, 36.7 of 93.6 usable, 90 %: 26.1 to 29.4 GiB"
std::string spoken(const view::Figure& figure);
// "Row 3: TP 4, CP 1, step time 72.3 s"; what is not known is left out. `row` counts from 0.
std::string spoken_row(const Table& table, std::size_t row);
// The first rows, at most `most`; `chosen` (a row, or -1) says so of itself and is among them wherever it stands.
void speak_rows(std::vector<std::string>& lines, const Table& table, int chosen = -1, std::size_t most = 20);

} // namespace fourfold::tui
