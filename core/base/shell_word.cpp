// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/shell_word.h"

#include <algorithm>
#include <string_view>

namespace fourfold {

std::string in_single_quotes(const std::string& text)
{
    std::string quoted = "'";
    for (const char byte : text) {
        if (byte == '\'')
            quoted += "'\\''";
        else
            quoted += byte;
    }
    return quoted + "'";
}

std::string shell_word(const std::string& word)
{
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@+%";
    const bool plain
        = !word.empty() && std::ranges::all_of(word, [&](char byte) { return kPlain.find(byte) != kPlain.npos; });
    return plain ? word : in_single_quotes(word);
}

} // namespace fourfold
