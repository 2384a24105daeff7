// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/expression/expression.h"

#include "core/base/text.h"
#include "core/expression/parser.h"

#include <algorithm>
#include <map>

namespace fourfold {
namespace {

// Characters, not bytes: what a person counts.
std::size_t characters(const std::string& text, std::size_t bytes)
{
    return std::size_t(std::count_if(text.begin(), text.begin() + std::ptrdiff_t(bytes),
        [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

Problem problem_of(const ExpressionError& error, const std::string& text, const std::string& where)
{
    const std::string at
        = "character " + std::to_string(characters(text, error.position) + 1) + " of " + in_quotes(text);
    return {ProblemCode::bad_input, error.message, error.hint, where.empty() ? at : where + ", " + at};
}

} // namespace

Expected<Expression> parse_expression(
    const std::string& text, ValueKind kind, const FieldSet& fields, const std::string& where, ExpressionError* error)
{
    ExpressionError found;
    Expression expression;
    std::vector<Token> tokens;
    bool good = false;
    if (text.size() > kMaxExpressionBytes) {
        found = {kMaxExpressionBytes, 0, "the expression is too long",
            "at most " + std::to_string(kMaxExpressionBytes) + " bytes"};
    } else if (!is_utf8(text)) {
        found = {0, 0, "the expression is not UTF-8 text", ""};
    } else if (tokenize(text, fields, tokens, found)) {
        ExpressionParser parser(tokens, fields);
        good = parser.parse(text, kind, expression);
        found = parser.error();
    }
    if (good)
        return expression;
    if (error)
        *error = found;
    return problem_of(found, text, where);
}

Completions complete_expression(const std::string& text, std::size_t cursor, const FieldSet& fields)
{
    cursor = std::min(cursor, text.size());
    Completions result;
    result.begin = cursor;
    while (result.begin > 0 && is_word_part(text[result.begin - 1]))
        --result.begin;
    const std::string start = lower_case(std::string_view(text).substr(result.begin, cursor - result.begin));
    // By what they start with, in lower case; a value that is no single word is put into quotes.
    std::map<std::string, std::string> names, others{{"and", "and"}, {"in", "in"}, {"not", "not"}, {"or", "or"}};
    for (const ExpressionField& field : fields.fields()) {
        names.emplace(field.name, field.name);
        for (const std::string& spelling : field.spellings) {
            const bool is_word
                = std::all_of(spelling.begin(), spelling.end(), [](char c) { return is_word_part(c) || c == '-'; });
            others.emplace(lower_case(spelling), is_word ? spelling : in_quotes(spelling));
        }
    }
    for (const ExpressionFunction& function : expression_functions())
        others.emplace(std::string(function.name) + "(", std::string(function.name) + "(");
    for (const auto* list : {&names, &others}) {
        for (const auto& [key, word] : *list) {
            if (key.compare(0, start.size(), start) == 0 && word != start)
                result.words.push_back(word);
        }
    }
    const auto begin = text.begin() + std::ptrdiff_t(result.begin);
    if (std::count(text.begin(), begin, '"') % 2 != 0 && *(begin - 1) == '"')
        --result.begin; // the words bring quotes where they need them
    return result;
}

} // namespace fourfold
