// SPDX-License-Identifier: GPL-3.0-or-later
// Measured tables to choose from: those of this folder, what is published, or a file whose name is typed.
#pragma once

#include "app/tui/desk.h"

namespace fourfold::tui {

std::vector<Picker::Item> table_items(Desk& desk, const std::function<void(const std::filesystem::path&)>& take);

} // namespace fourfold::tui
