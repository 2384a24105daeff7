// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tokenizer/unicode.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <utf8proc.h>

namespace fourfold::unicode {

bool Characters::next(char32_t& character)
{
    if (at_ >= text_.size())
        return false;
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text_[at_ + i]); };
    const unsigned first = byte(0);
    const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    constexpr unsigned kLead[] = {0, 0x7F, 0x1F, 0x0F, 0x07}, kTail = 0x3F, kTailBits = 6;
    character = first & kLead[length];
    for (std::size_t i = 1; i < length && at_ + i < text_.size(); ++i)
        character = character << kTailBits | (byte(i) & kTail);
    at_ = std::min(at_ + length, text_.size());
    return true;
}

void append(std::string& text, char32_t character)
{
    std::array<utf8proc_uint8_t, 4> bytes{};
    const utf8proc_ssize_t length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(character), bytes.data());
    text.append(reinterpret_cast<const char*>(bytes.data()), std::size_t(length));
}

namespace {
utf8proc_category_t category(char32_t character)
{
    return utf8proc_category(static_cast<utf8proc_int32_t>(character));
}
bool within(utf8proc_category_t category, utf8proc_category_t first, utf8proc_category_t last)
{
    return category >= first && category <= last;
}
} // namespace

bool is_white_space(char32_t c)
{
    return (c >= 0x9 && c <= 0xD) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A)
        || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_punctuation(char32_t c)
{
    const bool sign
        = (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
    return sign || within(category(c), UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO);
}

bool is_number(char32_t c)
{
    return within(category(c), UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO);
}

bool is_nonspacing_mark(char32_t c)
{
    return category(c) == UTF8PROC_CATEGORY_MN;
}

bool is_mark(char32_t c)
{
    return within(category(c), UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME);
}

bool is_other(char32_t c)
{
    return category(c) == UTF8PROC_CATEGORY_CN || within(category(c), UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CO);
}

bool is_chinese(char32_t c)
{
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF)
        || (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF)
        || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool is_word(char32_t c)
{
    // Alphabetic beyond letters, marks and letter numbers: the circled and squared Latin letters.
    const bool circled = (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149)
        || (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
    const utf8proc_category_t kind = category(c);
    return within(kind, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_NL) || kind == UTF8PROC_CATEGORY_PC || c == 0x200C
        || c == 0x200D || circled;
}

bool is_ascii(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

void append_lower_case(std::string& text, char32_t character)
{
    constexpr char32_t kDottedCapitalI = 0x130, kDotAbove = 0x307;
    if (character == kDottedCapitalI) {
        text += 'i';
        append(text, kDotAbove);
        return;
    }
    append(text, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(character))));
}

std::string normalised(std::string_view text, Form form)
{
    if (is_ascii(text))
        return std::string(text);
    const bool composed = form == Form::nfc || form == Form::nfkc,
               compatible = form == Form::nfkc || form == Form::nfkd;
    const int options
        = UTF8PROC_STABLE | (composed ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) | (compatible ? UTF8PROC_COMPAT : 0);
    utf8proc_uint8_t* mapped = nullptr;
    const utf8proc_ssize_t length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
        utf8proc_ssize_t(text.size()), &mapped, utf8proc_option_t(options));
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, &std::free);
    return length < 0 ? std::string(text) : std::string(reinterpret_cast<const char*>(mapped), std::size_t(length));
}

std::size_t end_of_grapheme(std::string_view text, std::size_t at)
{
    Characters characters(text.substr(at));
    char32_t last = 0, next = 0;
    utf8proc_int32_t state = 0;
    std::size_t end = 0;
    for (bool first = true; end = characters.at(), characters.next(next); first = false, last = next) {
        if (!first
            && utf8proc_grapheme_break_stateful(
                static_cast<utf8proc_int32_t>(last), static_cast<utf8proc_int32_t>(next), &state))
            return at + end;
    }
    return text.size();
}

} // namespace fourfold::unicode
