// SPDX-License-Identifier: GPL-3.0-or-later
// The columns of stored runs in a terminal: their order, which of them are on show at first, their short titles.
#pragma once

#include "app/tui/widgets/column_choice.h"
#include "app/view/history/runs_list.h"

#include <string>

namespace fourfold::tui {

ColumnChoice run_columns();
std::string run_title(int column); // of RunsList

} // namespace fourfold::tui
