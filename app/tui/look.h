// SPDX-License-Identifier: GPL-3.0-or-later
// Styles by what they say, for a terminal with colours and for one without.
#pragma once

#include "app/tui/terminal/canvas.h"
#include "app/view/answer.h"

namespace fourfold::tui {

struct Look {
    bool colors = true;
};

inline constexpr Style kMuted{Ink::muted}, kAccent{Ink::accent}, kBold{Ink::normal, Ink::normal, true},
    kHeading{Ink::accent, Ink::normal, true}, kReverse{Ink::normal, Ink::normal, false, true};

inline Style style_of(view::Tone tone)
{
    switch (tone) {
    case view::Tone::good:
        return {Ink::good};
    case view::Tone::warning:
        return {Ink::warning};
    case view::Tone::bad:
        return {Ink::bad, Ink::normal, true};
    case view::Tone::neutral:
        break;
    }
    return {};
}

// How a part of a bar is drawn: its colour, and its pattern where there are none.
struct Fill {
    Ink ink;
    char32_t pattern;
};
inline void put_fill(Canvas& canvas, int row, int column, const Fill& fill, const Look& look)
{
    canvas.put(row, column, look.colors ? U'\u2588' : fill.pattern, {look.colors ? fill.ink : Ink::normal});
}

} // namespace fourfold::tui
