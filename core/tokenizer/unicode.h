// SPDX-License-Identifier: GPL-3.0-or-later
// What tokenizers ask of Unicode. Texts are well-formed UTF-8 (core/base/text.h: is_utf8) unless said otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fourfold::unicode {

// The characters of a text one after the other.
class Characters {
public:
    explicit Characters(std::string_view text)
        : text_(text)
    {
    }
    // False at the end. `character` receives the next one.
    bool next(char32_t& character);
    // Where the next one begins, in bytes.
    [[nodiscard]] std::size_t at() const { return at_; }

private:
    std::string_view text_;
    std::size_t at_ = 0;
};

void append(std::string& text, char32_t character);

// White_Space of PropList.txt: what Rust's char::is_whitespace says.
bool is_white_space(char32_t character);
bool is_punctuation(char32_t character); // general category P, and all of ASCII's signs
bool is_number(char32_t character); // general category N
bool is_nonspacing_mark(char32_t character); // Mn
bool is_mark(char32_t character); // M
bool is_other(char32_t character); // C: controls, formats, private use, what is not assigned
bool is_chinese(char32_t character); // the blocks that BERT's own tokenizer puts blanks around
bool is_word(char32_t character); // \w of Unicode's Technical Standard 18, annex C

bool is_ascii(std::string_view text);
// Full mapping of one character at a time: U+0130 becomes two characters, no final sigma.
void append_lower_case(std::string& text, char32_t character);

enum class Form { nfc, nfd, nfkc, nfkd };
std::string normalised(std::string_view text, Form form);
// Where the grapheme cluster ends that begins at byte `at`.
std::size_t end_of_grapheme(std::string_view text, std::size_t at);

} // namespace fourfold::unicode
