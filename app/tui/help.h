// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of the keys, and changed of them; the guide.
#pragma once

#include "app/tui/desk.h"

#include <string>
#include <vector>

namespace fourfold::tui {

// `hints`: of the page in one line; `of_page`, `everywhere`: its commands, and those of every page.
void show_keys(
    Desk& desk, const std::string& hints, const std::vector<Command>& of_page, const std::vector<Command>& everywhere);
// Of which of the commands, then which letter.
void ask_to_change_key(Desk& desk, const std::vector<Command>& of_page, const std::vector<Command>& everywhere);
void show_guide(Desk& desk, const std::string& chapter); // this one is offered first

} // namespace fourfold::tui
