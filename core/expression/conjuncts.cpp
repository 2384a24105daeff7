// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/expression/conjuncts.h"

#include "core/expression/tokens.h"

#include <string_view>

namespace fourfold {
namespace {

bool is(const Token& token, std::string_view sign)
{
    return (token.kind == TokenKind::sign || token.kind == TokenKind::word) && token.text == sign;
}

// True where the first token opens a parenthesis that the last one closes.
bool is_enclosed(std::span<const Token> tokens)
{
    int depth = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        depth += is(tokens[i], "(") ? 1 : is(tokens[i], ")") ? -1 : 0;
        if (depth == 0)
            return i > 0 && i + 1 == tokens.size();
    }
    return false;
}

// The tokens between the top level's `and`s; empty where an `or` or `not` that reaches over them stands there too.
std::vector<std::span<const Token>> parts_of(std::span<const Token> tokens)
{
    while (is_enclosed(tokens))
        tokens = tokens.subspan(1, tokens.size() - 2);
    std::vector<std::span<const Token>> parts;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        depth += is(tokens[i], "(") ? 1 : is(tokens[i], ")") ? -1 : 0;
        if (depth == 0 && is(tokens[i], "or"))
            return {};
        if (depth == 0 && is(tokens[i], "and")) {
            parts.push_back(tokens.subspan(begin, i - begin));
            begin = i + 1;
        }
    }
    parts.push_back(tokens.subspan(begin));
    return parts;
}

} // namespace

std::vector<Expression> conjuncts(const Expression& condition, const FieldSet& fields)
{
    const std::string& text = condition.text();
    std::vector<Token> tokens;
    ExpressionError error;
    if (!tokenize(text, fields, tokens, error))
        return {condition};
    std::vector<Expression> found;
    for (const std::span<const Token> part : parts_of(std::span(tokens).first(tokens.size() - 1))) {
        const std::size_t begin = part.front().position, end = part.back().position + part.back().length;
        const auto one = parse_expression(text.substr(begin, end - begin), ValueKind::truth, fields, "");
        if (!one)
            return {condition};
        // A parenthesis of its own may hold more of them: a and (b and c).
        const std::vector<Expression> inner
            = is_enclosed(part) ? conjuncts(*one, fields) : std::vector<Expression>{*one};
        found.insert(found.end(), inner.begin(), inner.end());
    }
    return found.empty() ? std::vector<Expression>{condition} : found;
}

} // namespace fourfold
