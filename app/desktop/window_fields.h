// SPDX-License-Identifier: GPL-3.0-or-later
// Every field of the open plan from the menu and the finder.
#pragma once

#include "app/models/shared/command_model.h"

#include <string>
#include <vector>

namespace fourfold::ui {

class MainWindow;

void askFields(MainWindow& window, const std::string& path = {}); // `path`: the field to begin at
// Those that are not among `offered` by a control of theirs, which a plan need not have on show.
std::vector<Command> fieldCommands(MainWindow& window, const std::vector<Command>& offered);

} // namespace fourfold::ui
