// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <numeric>
#include <tuple>
#include <utility>

#include <locale.h>

namespace fourfold {

namespace {
// Length of the well-formed UTF-8 sequence at the start of `text` (Unicode, table 3-7); 0 when it is ill-formed.
std::size_t sequence_length(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    const auto continues
        = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) { return byte(i) >= low && byte(i) <= high; };
    const unsigned first = byte(0);
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first <= 0xdf)
        return continues(1) ? 2 : 0;
    if (first >= 0xe0 && first <= 0xef) {
        const unsigned low = first == 0xe0 ? 0xa0 : 0x80;
        const unsigned high = first == 0xed ? 0x9f : 0xbf;
        return continues(1, low, high) && continues(2) ? 3 : 0;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        const unsigned low = first == 0xf0 ? 0x90 : 0x80;
        const unsigned high = first == 0xf4 ? 0x8f : 0xbf;
        return continues(1, low, high) && continues(2) && continues(3) ? 4 : 0;
    }
    return 0;
}

// The code point of a well-formed sequence.
unsigned code_point(std::string_view sequence)
{
    unsigned value = static_cast<unsigned char>(sequence[0]);
    if (sequence.size() > 1)
        value &= 0xffu >> (sequence.size() + 1);
    for (const char c : sequence.substr(1))
        value = value << 6 | (static_cast<unsigned char>(c) & 0x3f);
    return value;
}

// Characters that are obeyed rather than shown.
bool is_obeyed(unsigned code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e || code == 0x200f
        || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x206f);
}

// What is shown of the character at the start of `text`, which is shortened by it.
std::string next_shown(std::string_view& text)
{
    const std::size_t length = std::max<std::size_t>(sequence_length(text), 1);
    const std::string_view character = text.substr(0, length);
    const bool ill_formed = sequence_length(text) == 0;
    text.remove_prefix(length);
    if (ill_formed)
        return "?";
    const unsigned code = code_point(character);
    if (!is_obeyed(code))
        return std::string(character);
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\u%04x", code);
    return escaped;
}

// How many bytes at the start need no look: most texts are these alone.
std::size_t plain_bytes(std::string_view text)
{
    const auto end = std::find_if(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; });
    return static_cast<std::size_t>(end - text.begin());
}

// The bytes at the end that may be the beginning of a longer character, or of a line end.
std::size_t unfinished_bytes(std::string_view text)
{
    if (text.ends_with('\r'))
        return 1;
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
        const auto lead = static_cast<unsigned char>(text[text.size() - back]);
        if (lead >= 0xc2 && lead <= 0xf4) {
            const std::size_t whole = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
            return back < whole ? back : 0;
        }
        if ((lead & 0xc0) != 0x80)
            return 0;
    }
    return 0;
}
} // namespace

bool is_utf8(std::string_view text)
{
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        if (length == 0)
            return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string printable(std::string_view text, std::size_t max_bytes)
{
    std::string out;
    while (!text.empty()) {
        std::string shown;
        if (text[0] == '\n' || text[0] == '\r' || text[0] == '\t') {
            text.remove_prefix(text.starts_with("\r\n") ? 2 : 1);
            shown = ' ';
        } else {
            shown = next_shown(text);
        }
        if (shown.size() > max_bytes - out.size())
            return out + "...";
        out += shown;
    }
    return out;
}

std::string printable_lines(std::string_view text)
{
    std::string out;
    PrintableStream stream;
    stream.feed(text, out);
    stream.finish(out);
    return out;
}

void PrintableStream::feed(std::string_view piece, std::string& out)
{
    std::string joined;
    if (!held_.empty()) {
        joined = held_ + std::string(piece);
        piece = joined;
    }
    const std::size_t later = unfinished_bytes(piece);
    show(piece.substr(0, piece.size() - later), out);
    held_ = piece.substr(piece.size() - later);
}

void PrintableStream::finish(std::string& out)
{
    show(std::exchange(held_, {}), out);
}

void PrintableStream::show(std::string_view text, std::string& out)
{
    while (!text.empty()) {
        const std::size_t plain = plain_bytes(text);
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty())
            return;
        if (text[0] == '\r') {
            out += text.starts_with("\r\n") ? '\r' : '\n';
            text.remove_prefix(1);
        } else if (text[0] == '\n' || text[0] == '\t') {
            out += text[0];
            text.remove_prefix(1);
        } else {
            out += next_shown(text);
        }
    }
}

std::string in_quotes(std::string_view text)
{
    return '"' + printable(text, 60) + '"';
}

std::string lower_case(std::string_view text)
{
    std::string lower(text);
    for (char& c : lower) {
        if (c >= 'A' && c <= 'Z')
            c = char(c - 'A' + 'a');
    }
    return lower;
}

std::string text_of(const char* format, ...)
{
    static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
    char buffer[400];
    va_list arguments;
    va_start(arguments, format);
    const locale_t before = uselocale(c_locale); // of this thread
    const int length = std::vsnprintf(buffer, sizeof buffer, format, arguments);
    uselocale(before);
    va_end(arguments);
    return length < 0 ? std::string()
                      : std::string(buffer, std::min<std::size_t>(std::size_t(length), sizeof buffer - 1));
}

std::string indented(std::string_view text)
{
    std::string out = "  ";
    for (std::size_t i = 0; i < text.size(); ++i) {
        out += text[i];
        if (text[i] == '\n' && i + 1 < text.size())
            out += "  ";
    }
    return out;
}

std::string joined(const std::vector<std::string>& words, std::string_view separator)
{
    std::string out;
    for (const std::string& word : words) {
        if (!out.empty())
            out += separator;
        out += word;
    }
    return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substitution = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
        }
    }
    return row[b.size()];
}

std::vector<std::string> nearest_words(
    std::string_view word, const std::vector<std::string>& candidates, std::size_t count)
{
    const std::string asked = lower_case(word.substr(0, 100)); // keeps the cost of nonsense input small
    struct Ranked {
        std::size_t distance, different_from; // edits; the first byte that differs
        std::string text;
    };
    std::vector<Ranked> ranked;
    for (const std::string& candidate : candidates) {
        const std::string known = lower_case(candidate);
        const std::size_t distance = edit_distance(asked, known);
        const bool contained = asked.size() >= 3 && known.find(asked) != std::string::npos;
        if (!contained && distance > std::max<std::size_t>(2, known.size() / 3))
            continue;
        const auto different = std::mismatch(asked.begin(), asked.end(), known.begin(), known.end()).first;
        ranked.push_back({contained ? std::min<std::size_t>(distance, 2) : distance,
            static_cast<std::size_t>(different - asked.begin()), candidate});
    }
    // People mistype the ends of words: of equally near ones, the one that agrees longest is meant.
    std::sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
        return std::tuple(a.distance, b.different_from, a.text) < std::tuple(b.distance, a.different_from, b.text);
    });
    std::vector<std::string> out;
    for (std::size_t i = 0; i < std::min(count, ranked.size()); ++i)
        out.push_back(ranked[i].text);
    return out;
}

} // namespace fourfold
