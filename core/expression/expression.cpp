// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/expression/expression.h"

#include "core/base/text.h"
#include "core/expression/parser.h"

#include <algorithm>

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
    std::vector<std::string> names, others{"and", "in", "not", "or"};
    for (const ExpressionField& field : fields.fields()) {
        names.push_back(field.name);
        if (field.kind == ValueKind::text)
            others.insert(others.end(), field.spellings.begin(), field.spellings.end());
    }
    for (const ExpressionFunction& function : expression_functions())
        others.push_back(std::string(function.name) + "(");
    std::sort(names.begin(), names.end());
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    for (const auto* list : {&names, &others}) {
        for (const std::string& word : *list) {
            if (word.compare(0, start.size(), start) == 0 && word != start)
                result.words.push_back(word);
        }
    }
    return result;
}

} // namespace fourfold
