// SPDX-License-Identifier: GPL-3.0-or-later
// Styles by what they say, for a terminal with colours and for one without.
#pragma once

#include "app/tui/terminal/canvas.h"
#include "app/tui/terminal/palette.h"
#include "app/view/answer.h"

namespace fourfold::tui {

struct Look {
    bool colors = true;
    bool few = false; // 8 or 16 of them, which may be pale
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
    if (!look.colors)
        canvas.put(row, column, fill.pattern);
    else if (look.few)
        canvas.put(row, column, fill.pattern, area_style(fill.ink));
    else
        canvas.put(row, column, U'\u2588', {fill.ink});
}

// Of a curve, or of a letter that stands for it: on a ground of its own where the colour may be pale.
inline Style curve_style(Ink ink, const Look& look, bool bold = false)
{
    const Style area = area_style(ink);
    return look.few ? Style{area.paper, area.ink, bold} : Style{ink, Ink::normal, bold};
}

} // namespace fourfold::tui
