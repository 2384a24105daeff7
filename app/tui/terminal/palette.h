// SPDX-License-Identifier: GPL-3.0-or-later
// Which colours an ink is, by how many the terminal has. Nobody can tell for sure which background a terminal has (over
// SSH, in tmux or in screen COLORFGBG is lost and OSC 11 is often not answered), so it is never asked: an ink is such
// that it can be read on black and on white, or it comes with a background of its own.
#pragma once

#include "app/tui/terminal/canvas.h"

#include <algorithm>
#include <iterator>

namespace fourfold::tui {

struct CellColors {
    int ink = -1, paper = -1; // -1: the terminal's own; a number of its palette, or 0xRRGGBB where it has more than 256
    enum class Bold { as_styled, always, never } bold = Bold::as_styled;
};

namespace palette {
inline constexpr int kBlack = 0, kRed = 1, kGreen = 2, kYellow = 3, kBlue = 4, kMagenta = 5, kCyan = 6, kWhite = 7;

struct InkColor {
    Ink ink;
    int of_256, rgb;
    CellColors of_8;
};
// A contrast of 3 to 1 with black and with white needs a relative luminance (WCAG 2) of 0.10 to 0.30. The series are
// Okabe and Ito's hues, darkened where they are too light for that. Of eight colours only red and magenta are so on
// most terminals, and each terminal has its own: texts have their colour behind them or none; areas have a pattern on
// their colour, in an ink that the eye tells from it, and curves that ink behind them, so that one of the two stands
// out on any background (area_style()).
inline constexpr auto kNever = CellColors::Bold::never, kAlways = CellColors::Bold::always;
inline constexpr InkColor kColors[]{{Ink::muted, 244, 0x808080, {}}, {Ink::accent, 32, 0x2f95d6, {-1, -1, kAlways}},
    {Ink::good, 28, 0x00a068, {kBlack, kGreen, kNever}}, {Ink::warning, 136, 0xc47a00, {kBlack, kYellow, kNever}},
    {Ink::bad, 167, 0xe04f4a, {kWhite, kRed, kAlways}}, {Ink::blue, 25, 0x0072b2, {kBlue, -1}},
    {Ink::orange, 202, 0xcc8200, {kYellow, -1}}, {Ink::green, 29, 0x009e73, {kGreen, -1}},
    {Ink::yellow, 136, 0x958c12, {kYellow, -1, kAlways}}, {Ink::sky, 68, 0x4a9bd0, {kCyan, -1}},
    {Ink::vermilion, 160, 0xd55e00, {kRed, -1}}, {Ink::purple, 169, 0xcc79a7, {kMagenta, -1}},
    {Ink::grey, 245, 0x8a8a8a, {}}, {Ink::dark, 16, 0x000000, {kBlack, -1, kNever}},
    {Ink::light, 231, 0xffffff, {kWhite, -1, kAlways}}};

inline CellColors color_of(Ink ink, int colors)
{
    const auto* const found = std::find_if(
        std::begin(kColors), std::end(kColors), [ink](const InkColor& color) { return color.ink == ink; });
    if (found == std::end(kColors))
        return {};
    return colors > 256 ? CellColors{found->rgb} : colors == 256 ? CellColors{found->of_256} : found->of_8;
}
} // namespace palette

// Of a cell of an area with a pattern, where there are few colours.
inline Style area_style(Ink ink)
{
    switch (ink) {
    case Ink::normal:
    case Ink::muted:
    case Ink::grey:
        return {};
    case Ink::blue:
    case Ink::vermilion:
    case Ink::bad:
        return {Ink::light, ink};
    default:
        return {Ink::dark, ink};
    }
}

// `colors`: how many the terminal has, 8 at least.
inline CellColors colors_of(Ink ink, Ink paper, int colors)
{
    CellColors out = palette::color_of(ink, colors);
    if (paper == Ink::normal)
        return out;
    const CellColors behind = palette::color_of(paper, colors);
    out.paper = behind.paper >= 0 ? behind.paper : behind.ink;
    return out;
}

} // namespace fourfold::tui
