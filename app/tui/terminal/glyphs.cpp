// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/terminal/glyphs.h"

#include "app/tui/terminal/canvas.h"

#include <algorithm>
#include <iterator>

namespace fourfold::tui {

namespace {
struct Pair {
    char32_t character, ascii;
};
constexpr Pair kAscii[]{{U'\u00a0', U' '}, {U'\u00b5', U'u'}, {U'\u00b7', U'.'}, {U'\u00d7', U'x'}, {U'\u2013', U'-'},
    {U'\u2014', U'-'}, {U'\u2018', U'\''}, {U'\u2019', U'\''}, {U'\u201c', U'"'}, {U'\u201d', U'"'}, {U'\u2022', U'*'},
    {U'\u2026', U'.'}, {U'\u203a', U'>'}, {U'\u2191', U'^'}, {U'\u2193', U'v'}, {U'\u2212', U'-'}, {U'\u2500', U'-'},
    {U'\u2502', U'|'}, {U'\u2550', U'='}, {U'\u2580', U'"'}, {U'\u2584', U'_'}, {U'\u2588', U'#'}, {U'\u2591', U'.'},
    {U'\u2592', U'+'}, {U'\u2593', U'%'}, {U'\u25a0', U'#'}, {U'\u25a1', U'o'}, {U'\u25aa', U'*'}, {U'\u25b2', U'^'},
    {U'\u25b8', U'>'}, {U'\u25be', U'v'}, {U'\u25cb', U'o'}, {U'\u25cf', U'*'}, {U'\u26a0', U'!'}};
} // namespace

char32_t ascii_of(char32_t character)
{
    if (character < 0x7f)
        return character;
    const auto* const found = std::lower_bound(std::begin(kAscii), std::end(kAscii), character,
        [](const Pair& pair, char32_t wanted) { return pair.character < wanted; });
    if (found != std::end(kAscii) && found->character == character)
        return found->ascii;
    if (character >= 0x2500 && character < 0x2580)
        return U'+'; // corners and crossings of lines
    if (character >= 0x2581 && character < 0x2588)
        return U'_';
    if (character >= 0x2589 && character <= 0x258f)
        return U'|'; // parts of a block, from the left
    if (character >= 0x2800 && character < 0x2900)
        return character == 0x2800 ? U' ' : U'*'; // Braille
    return U'?';
}

std::string_view ascii_pair_of(char32_t character)
{
    switch (character) {
    case U'\u2190':
        return "<-";
    case U'\u2192':
        return "->";
    case U'\u2260':
        return "!=";
    case U'\u2264':
        return "<=";
    case U'\u2265':
        return ">=";
    default:
        return {};
    }
}

std::string ascii_text(std::string_view text)
{
    std::string out;
    while (!text.empty()) {
        const char32_t character = next_character(text);
        if (const std::string_view pair = ascii_pair_of(character); !pair.empty())
            out += pair;
        else if (width_of(character) > 0)
            out += static_cast<char>(ascii_of(character));
    }
    return out;
}

char32_t console_of(char32_t character)
{
    if (character >= 0x2589 && character <= 0x258f) // parts of a block, from the left
        return character <= 0x258a ? U'\u2588' : character <= 0x258d ? U'\u258c' : U' ';
    if (character >= 0x2581 && character <= 0x2587)
        return character >= 0x2586 ? U'\u2588' : character >= 0x2583 ? U'\u2584' : U' ';
    const bool is_braille = character >= 0x2800 && character < 0x2900;
    return is_braille ? ascii_of(character) : character;
}

} // namespace fourfold::tui
