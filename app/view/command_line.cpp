// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/command_line.h"

#include "core/base/shell_word.h"

namespace fourfold::view {

std::string command_line(const std::vector<std::string>& words)
{
    std::string line = "fourfold";
    for (const std::string& word : words) {
        if (!word.empty())
            line += " " + shell_word(word);
    }
    return line;
}

} // namespace fourfold::view
