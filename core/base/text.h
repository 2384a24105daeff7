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
// The text with every ill-formed byte replaced by '?', cut to at most `max_bytes` ("..." marks the cut).
std::string printable(std::string_view text, std::size_t max_bytes = 200);
// printable(text) in double quotes, for "found "x", expected ...".
std::string in_quotes(std::string_view text);
// A to Z as a to z, every other byte as it is.
std::string lower_case(std::string_view text);
// printf into a string, cut to 319 bytes.
std::string text_of(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string joined(const std::vector<std::string>& words, std::string_view separator);

// Levenshtein distance in bytes.
std::size_t edit_distance(std::string_view a, std::string_view b);
// The up to `count` candidates that `word` may have been meant to be, best first; empty when none is close.
std::vector<std::string> nearest_words(
    std::string_view word, const std::vector<std::string>& candidates, std::size_t count = 3);

} // namespace fourfold
