// SPDX-License-Identifier: GPL-3.0-or-later
// Texts as a POSIX shell takes them for one word.
#pragma once

#include <string>

namespace fourfold {

std::string in_single_quotes(const std::string& text);
// In single quotes where it has more than letters, digits and _-./=:,@+%.
std::string shell_word(const std::string& word);

} // namespace fourfold
