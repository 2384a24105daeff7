// SPDX-License-Identifier: GPL-3.0-or-later
// What stands for a character that a terminal cannot show.
#pragma once

namespace fourfold::tui {

char32_t ascii_of(char32_t character); // where it shows ASCII alone
char32_t console_of(char32_t character); // on the Linux console: its fonts have whole and half blocks, no Braille

} // namespace fourfold::tui
