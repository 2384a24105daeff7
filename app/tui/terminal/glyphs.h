// SPDX-License-Identifier: GPL-3.0-or-later
// What stands for a character where the terminal shows ASCII alone.
#pragma once

namespace fourfold::tui {

char32_t ascii_of(char32_t character);

} // namespace fourfold::tui
