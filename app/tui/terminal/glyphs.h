// SPDX-License-Identifier: GPL-3.0-or-later
// What stands for a character that a terminal cannot show.
#pragma once

#include <string>
#include <string_view>

namespace fourfold::tui {

char32_t ascii_of(char32_t character); // where it shows ASCII alone
// Of those for which one sign would say something else ("->": a ">" alone compares): two signs; else empty.
std::string_view ascii_pair_of(char32_t character);
std::string ascii_text(std::string_view text);
// The screen shows ASCII alone: what is two signs takes two cells from here on.
void write_in_ascii(bool on);
char32_t console_of(char32_t character); // on the Linux console: its fonts have whole and half blocks, no Braille

} // namespace fourfold::tui
