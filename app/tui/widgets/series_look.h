// SPDX-License-Identifier: GPL-3.0-or-later
// How the series of a chart are told apart: by colour, and by a letter where there are no colours, or more series than
// those.
#pragma once

#include "app/tui/terminal/canvas.h"

#include <array>

namespace fourfold::tui {

inline Ink series_ink(std::size_t number)
{
    constexpr std::array kInks{Ink::blue, Ink::orange, Ink::green, Ink::vermilion, Ink::purple, Ink::sky, Ink::yellow};
    return kInks[number % kInks.size()];
}

inline char32_t series_mark(std::size_t number)
{
    constexpr std::size_t kLetters = 26;
    if (number < kLetters)
        return U'a' + static_cast<char32_t>(number);
    return number < 2 * kLetters ? U'A' + static_cast<char32_t>(number - kLetters) : U'*';
}

} // namespace fourfold::tui
