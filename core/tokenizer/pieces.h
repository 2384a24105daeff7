// SPDX-License-Identifier: GPL-3.0-or-later
// A text that is being cut into words, and how it is cut where something matches.
#pragma once

#include "core/tokenizer/regular_expression.h"
#include "core/tokenizer/unicode.h"

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace fourfold {

// Immutable text; what rewrites it makes a new one in the arena.
struct Piece {
    std::string_view text;
    bool first = false; // where the whole text begins
};

struct Pieces {
    std::vector<Piece> all;
    std::vector<Piece> next; // of the step that is under way
    std::deque<std::string> arena; // texts that steps made
    RegularExpression::Workspace workspace;
    std::size_t room = kLeastRoom; // bytes that a normalizer may make of a text

    // No honest normalizer makes more than this of a text; steps that replace one letter by two can make 2^40 bytes.
    void allow_growth_of(std::size_t bytes) { room = std::max(kLeastRoom, bytes * kMostGrowth); }
    // Gives a rewritten piece a place to live.
    std::string_view keep(std::string text) { return arena.emplace_back(std::move(text)); }
    void add(std::string_view text, bool first)
    {
        if (!text.empty())
            next.push_back({text, first});
    }

private:
    static constexpr std::size_t kLeastRoom = std::size_t(16) << 20, kMostGrowth = 32;
};

// A part of a piece: [begin, end) matches or lies between matches.
struct TextSpan {
    std::size_t begin = 0, end = 0;
    bool match = false;
};

// As `SplitDelimiterBehavior` of Hugging Face's tokenizers.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
Expected<SplitBehavior> split_behavior(const std::string& word, const std::string& where);

// Adds what `behavior` makes of `spans`, which cover the piece from its first to its last byte. Works in `spans`.
void add_split(const Piece& piece, std::vector<TextSpan>& spans, SplitBehavior behavior, Pieces& pieces);

// The spans of a piece whose characters match where `matches` says so: one span per matching character.
template <typename Matches>
void spans_of_characters(std::string_view text, std::vector<TextSpan>& spans, const Matches& matches)
{
    spans.clear();
    unicode::Characters characters(text);
    std::size_t between = 0, at = 0;
    for (char32_t c = 0; at = characters.at(), characters.next(c);) {
        if (!matches(c))
            continue;
        if (at > between)
            spans.push_back({between, at, false});
        between = characters.at();
        spans.push_back({at, between, true});
    }
    if (between < text.size())
        spans.push_back({between, text.size(), false});
}

// The same of an expression, and of a text.
Expected<void> spans_of_matches(
    std::string_view text, const RegularExpression& expression, Pieces& pieces, std::vector<TextSpan>& spans);
void spans_of_text(std::string_view text, std::string_view sought, std::vector<TextSpan>& spans);

} // namespace fourfold
