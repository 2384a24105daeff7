// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/command_line.h"

#include <algorithm>
#include <string_view>

namespace fourfold::view {

std::string shell_word(const std::string& word)
{
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@+%";
    if (!word.empty() && std::ranges::all_of(word, [&](char byte) { return kPlain.find(byte) != kPlain.npos; }))
        return word;
    std::string quoted = "'";
    for (const char byte : word) {
        if (byte == '\'')
            quoted += "'\\''";
        else
            quoted += byte;
    }
    return quoted + "'";
}

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
