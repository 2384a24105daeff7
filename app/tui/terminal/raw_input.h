// SPDX-License-Identifier: GPL-3.0-or-later
// What a terminal sends behind a prefix that curses knew: read here to its end. No byte behind that is read, for those
// are curses' (whose own queue of what is handed back to it has no end any more once it was full).
#pragma once

#include "app/tui/terminal/key.h"

#include <cstddef>
#include <string_view>

namespace fourfold::tui {

inline constexpr std::string_view kAnswerText = "\033[0n"; // to a status report (DSR 5)

// What stands between the brackets of a paste; the terminal sends it as if it were typed. `answers`: how many to status
// reports came among it.
Key read_paste(std::size_t& answers);
// "0;12;5M" behind ESC [ < (`sgr`), or three bytes behind ESC [ M. Buttons that mean nothing here are `ignored`.
Key read_mouse(bool sgr);

} // namespace fourfold::tui
