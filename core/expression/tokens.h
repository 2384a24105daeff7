// SPDX-License-Identifier: GPL-3.0-or-later
// Words, numbers and signs of an expression.
#pragma once

#include "core/expression/expression.h"

namespace fourfold {

enum class TokenKind { end, number, word, quoted, sign };

struct Token {
    TokenKind kind = TokenKind::end;
    std::size_t position = 0, length = 0; // in bytes
    // A word in lower case, a quoted text without its quotes, a sign in its usual spelling ("==", "and").
    std::string text;
    double number = 0;
};

// The tokens of `text`, the last one `end`; false with `error` set where a character starts none. `fields` tells the
// text values with a hyphen in them (zb-h1), which are one word where dp-1 is a difference.
bool tokenize(const std::string& text, const FieldSet& fields, std::vector<Token>& tokens, ExpressionError& error);

bool is_word_part(char c); // letters, digits, _ and .

} // namespace fourfold
