// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tokenizer/pieces.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>

namespace fourfold {

Expected<SplitBehavior> split_behavior(const std::string& word, const std::string& where)
{
    struct Name {
        std::string_view name;
        SplitBehavior behavior;
    };
    constexpr std::array kNames{Name{"Removed", SplitBehavior::removed}, Name{"Isolated", SplitBehavior::isolated},
        Name{"MergedWithPrevious", SplitBehavior::merged_with_previous},
        Name{"MergedWithNext", SplitBehavior::merged_with_next}, Name{"Contiguous", SplitBehavior::contiguous}};
    const auto* const named
        = std::find_if(kNames.begin(), kNames.end(), [&](const Name& known) { return known.name == word; });
    if (named != kNames.end())
        return named->behavior;
    return Problem{ProblemCode::unsupported, "unknown behavior " + in_quotes(word), "", where};
}

namespace {
// Neighbours of one kind become one.
void join_alike(std::vector<TextSpan>& spans)
{
    std::size_t kept = 0;
    for (const TextSpan& span : spans) {
        if (kept > 0 && spans[kept - 1].match == span.match)
            spans[kept - 1].end = span.end;
        else
            spans[kept++] = span;
    }
    spans.resize(kept);
}

// The first of several matches that follow each other joins what stands before it; the others stay alone.
void join_to_previous(std::vector<TextSpan>& spans)
{
    std::size_t kept = 0;
    bool after_match = false;
    for (const TextSpan& span : spans) {
        if (span.match && !after_match && kept > 0)
            spans[kept - 1].end = span.end;
        else
            spans[kept++] = span;
        after_match = span.match;
    }
    spans.resize(kept);
}

// The same from the end to the beginning.
void join_to_next(std::vector<TextSpan>& spans)
{
    std::vector<TextSpan> kept;
    bool before_match = false;
    for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
        if (span->match && !before_match && !kept.empty())
            kept.back().begin = span->begin;
        else
            kept.push_back(*span);
        before_match = span->match;
    }
    spans.assign(kept.rbegin(), kept.rend());
}
} // namespace

void add_split(const Piece& piece, std::vector<TextSpan>& spans, SplitBehavior behavior, Pieces& pieces)
{
    switch (behavior) {
    case SplitBehavior::removed:
        std::erase_if(spans, [](const TextSpan& span) { return span.match; });
        break;
    case SplitBehavior::isolated:
        break;
    case SplitBehavior::merged_with_previous:
        join_to_previous(spans);
        break;
    case SplitBehavior::merged_with_next:
        join_to_next(spans);
        break;
    case SplitBehavior::contiguous:
        join_alike(spans);
        break;
    }
    for (const TextSpan& span : spans)
        pieces.add(piece.text.substr(span.begin, span.end - span.begin), piece.first && span.begin == 0);
}

Expected<void> spans_of_matches(
    std::string_view text, const RegularExpression& expression, Pieces& pieces, std::vector<TextSpan>& spans)
{
    spans.clear();
    std::size_t between = 0;
    for (std::size_t from = 0; from < text.size();) {
        bool found = false;
        RegularExpression::Match match;
        FOURFOLD_CHECK(expression.search(text, from, pieces.workspace, found, match));
        if (!found)
            break;
        if (match.end == match.begin) { // nothing: look on behind the next character
            unicode::Characters rest(text.substr(match.end));
            char32_t skipped = 0;
            rest.next(skipped);
            from = match.end + std::max<std::size_t>(rest.at(), 1);
            continue;
        }
        if (match.begin > between)
            spans.push_back({between, match.begin, false});
        spans.push_back({match.begin, match.end, true});
        between = from = match.end;
    }
    if (between < text.size())
        spans.push_back({between, text.size(), false});
    return {};
}

void spans_of_text(std::string_view text, std::string_view sought, std::vector<TextSpan>& spans)
{
    spans.clear();
    std::size_t between = 0;
    for (std::size_t at = sought.empty() ? std::string_view::npos : text.find(sought); at != std::string_view::npos;
         at = text.find(sought, between)) {
        if (at > between)
            spans.push_back({between, at, false});
        between = at + sought.size();
        spans.push_back({at, between, true});
    }
    if (between < text.size())
        spans.push_back({between, text.size(), false});
}

} // namespace fourfold
