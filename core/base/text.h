// SPDX-License-Identifier: GPL-3.0-or-later
// Small helpers for words in messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fourfold {

// True for well-formed UTF-8 (no overlong forms, no surrogates).
bool is_utf8(std::string_view text);

// What is shown of text that is not the program's own (of a node, a file, a person). A terminal or a window would obey
// some characters instead of showing them: control characters (C0, DEL, C1), those that turn the direction of writing
// (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+206F) and Unicode's own line ends (U+2028, U+2029). They are
// written as in JSON, "\u001b", and every ill-formed byte as '?'.
//
// On one line: blanks stand for line ends and tabs. Cut to at most `max_bytes` ("..." marks the cut).
std::string printable(std::string_view text, std::size_t max_bytes = 200);
inline constexpr std::size_t kUncut = std::string_view::npos;
// With its lines and tabs; a carriage return alone becomes a line end.
std::string printable_lines(std::string_view text);

// printable_lines() of a text that comes in pieces, which may end anywhere.
class PrintableStream {
public:
    void feed(std::string_view piece, std::string& out);
    // What was held back, because more could have followed it.
    void finish(std::string& out);

private:
    void show(std::string_view text, std::string& out);
    std::string held_;
};

// printable(text) in double quotes, for "found "x", expected ...".
std::string in_quotes(std::string_view text);
// A to Z as a to z, every other byte as it is.
std::string lower_case(std::string_view text);
// printf into a string, cut to 399 bytes: every number that is shown or written comes by here (or is JSON's), and none
// depends on the locale, whatever a library or the environment has set.
std::string text_of(const char* format, ...) __attribute__((format(printf, 1, 2)));
// Each line two columns to the right.
std::string indented(std::string_view text);
std::string joined(const std::vector<std::string>& words, std::string_view separator);

// Levenshtein distance in bytes.
std::size_t edit_distance(std::string_view a, std::string_view b);
// The up to `count` candidates that `word` may have been meant to be, best first; empty when none is close.
std::vector<std::string> nearest_words(
    std::string_view word, const std::vector<std::string>& candidates, std::size_t count = 3);

// Without the characters of `blanks` at either end.
constexpr std::string_view trimmed(std::string_view text, std::string_view blanks = " \t")
{
    const std::size_t first = text.find_first_not_of(blanks);
    return first == std::string_view::npos ? std::string_view()
                                           : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

} // namespace fourfold
