// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tokenizer/byte_letters.h"

#include "core/tokenizer/unicode.h"

#include <array>

namespace fourfold {

namespace {
constexpr std::size_t kBytes = 256;

constexpr bool stands_for_itself(unsigned byte)
{
    return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr std::array<char32_t, kBytes> kLetters = [] {
    std::array<char32_t, kBytes> letters{};
    char32_t next = kBytes;
    for (unsigned byte = 0; byte < kBytes; ++byte)
        letters[byte] = stands_for_itself(byte) ? byte : next++;
    return letters;
}();
} // namespace

std::string letters_of_bytes(std::string_view text)
{
    std::string letters;
    letters.reserve(text.size() * 2);
    for (const char byte : text)
        unicode::append(letters, kLetters[static_cast<unsigned char>(byte)]);
    return letters;
}

std::optional<std::string> bytes_of_letters(std::string_view text)
{
    std::string bytes;
    unicode::Characters characters(text);
    for (char32_t letter = 0; characters.next(letter);) {
        std::size_t byte = 0;
        while (byte < kBytes && kLetters[byte] != letter)
            ++byte;
        if (byte == kBytes)
            return std::nullopt;
        bytes += static_cast<char>(byte);
    }
    return bytes;
}

} // namespace fourfold
