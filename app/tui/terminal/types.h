// SPDX-License-Identifier: GPL-3.0-or-later
// What kind of terminal it is, by the host's list of them.
#pragma once

#include <string>

namespace fourfold::tui {

// The name under which a terminal is known here; empty: none. Hosts know the types of their day alone: of xterm's kin,
// and of what runs inside tmux and screen, the usual one serves, as these all send and know what it does.
std::string known_type(const char* type);

} // namespace fourfold::tui
