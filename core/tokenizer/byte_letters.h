// SPDX-License-Identifier: GPL-3.0-or-later
// The letters that stand for bytes in vocabularies of byte-level BPE (GPT-2's bytes_to_unicode): printable Latin-1
// characters stand for themselves, the others of the 256 for U+0100 onwards, in order.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fourfold {

// Each byte of `text` as its letter, in UTF-8.
std::string letters_of_bytes(std::string_view text);
// The way back; nothing where a character stands for no byte.
std::optional<std::string> bytes_of_letters(std::string_view text);

} // namespace fourfold
