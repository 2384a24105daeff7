// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/expression/tokens.h"

#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace fourfold {
namespace {

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}
bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Signs with their usual spelling; longer ones first.
struct Sign {
    std::string_view written, usual;
};
constexpr Sign kSigns[] = {{"==", "=="}, {"!=", "!="}, {"<=", "<="}, {">=", ">="}, {"&&", "and"}, {"||", "or"},
    {"<", "<"}, {">", ">"}, {"=", "=="}, {"!", "not"}, {"+", "+"}, {"-", "-"}, {"*", "*"}, {"/", "/"}, {"%", "%"},
    {"(", "("}, {")", ")"}, {",", ","}};

std::size_t word_length(std::string_view rest, const FieldSet& fields)
{
    std::size_t length = 0;
    while (length < rest.size() && is_word_part(rest[length]))
        ++length;
    for (const ExpressionField& field : fields.fields()) {
        for (const std::string& spelling : field.spellings) {
            const bool longer = spelling.size() > length && spelling.find('-') != std::string::npos;
            const bool ends = spelling.size() >= rest.size() || !is_word_part(rest[spelling.size()]);
            if (longer && ends && lower_case(rest.substr(0, spelling.size())) == lower_case(spelling))
                length = spelling.size();
        }
    }
    return length;
}

bool read_number(const std::string& text, std::size_t at, Token& token, ExpressionError& error)
{
    double value = 0;
    const char* first = text.data() + at;
    const auto [end, code] = std::from_chars(first, text.data() + text.size(), value);
    const auto length = std::max<std::size_t>(1, std::size_t(end - first));
    if (code != std::errc() || !std::isfinite(value)) {
        error = {at, length, "the number is too large or too small", ""};
        return false;
    }
    token = {TokenKind::number, at, length, text.substr(at, length), value};
    return true;
}

bool read_sign(const std::string& text, std::size_t at, Token& token, ExpressionError& error)
{
    for (const Sign& sign : kSigns) {
        if (text.compare(at, sign.written.size(), sign.written) == 0) {
            token = {TokenKind::sign, at, sign.written.size(), std::string(sign.usual), 0};
            return true;
        }
    }
    // A whole UTF-8 character, so that an editor marks what a person sees.
    std::size_t length = 1;
    while (at + length < text.size() && (static_cast<unsigned char>(text[at + length]) & 0xC0U) == 0x80U)
        ++length;
    error = {at, length, in_quotes(text.substr(at, length)) + " has no meaning here", ""};
    return false;
}

bool read_quoted(const std::string& text, std::size_t at, Token& token, ExpressionError& error)
{
    const char quote = text[at];
    const std::size_t end = text.find(quote, at + 1);
    if (end == std::string::npos) {
        error = {at, text.size() - at, "the quoted text does not end", std::string("add ") + quote};
        return false;
    }
    token = {TokenKind::quoted, at, end + 1 - at, text.substr(at + 1, end - at - 1), 0};
    return true;
}

} // namespace

bool is_word_part(char c)
{
    return is_letter(c) || is_digit(c) || c == '.';
}

bool tokenize(const std::string& text, const FieldSet& fields, std::vector<Token>& tokens, ExpressionError& error)
{
    tokens.clear();
    for (std::size_t at = 0; true; at = tokens.back().position + tokens.back().length) {
        while (at < text.size() && is_space(text[at]))
            ++at;
        if (at == text.size()) {
            tokens.push_back({TokenKind::end, at, 0, "", 0});
            return true;
        }
        const char c = text[at];
        const std::string_view rest = std::string_view(text).substr(at);
        Token token;
        bool good = true;
        const bool number = is_digit(c) || (c == '.' && rest.size() > 1 && is_digit(rest[1]));
        if (number)
            good = read_number(text, at, token, error);
        // A text value may start with a digit: 1f1b.
        const bool joined = good && number && token.length < rest.size() && is_letter(rest[token.length]);
        if (is_letter(c) || joined) {
            const std::size_t length = word_length(rest, fields);
            token = {TokenKind::word, at, length, lower_case(rest.substr(0, length)), 0};
        } else if (!number && (c == '"' || c == '\'')) {
            good = read_quoted(text, at, token, error);
        } else if (!number) {
            good = read_sign(text, at, token, error);
        }
        if (!good)
            return false;
        tokens.push_back(std::move(token));
    }
}

} // namespace fourfold
