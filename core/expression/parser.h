// SPDX-License-Identifier: GPL-3.0-or-later
// Recursive descent over the tokens; every rule leaves the postfix steps of what it read.
#pragma once

#include "core/expression/tokens.h"

namespace fourfold {

class ExpressionParser {
public:
    ExpressionParser(const std::vector<Token>& tokens, const FieldSet& fields)
        : tokens_(tokens)
        , fields_(fields)
    {
    }
    // `text` is what the tokens were made of. False with error() set where it is no expression of `kind`.
    bool parse(const std::string& text, ValueKind kind, Expression& result);
    [[nodiscard]] const ExpressionError& error() const { return error_; }

private:
    // What a rule read: its steps, and where it stands for messages.
    struct Operand {
        ValueKind kind = ValueKind::number;
        std::vector<Expression::Step> steps;
        std::size_t begin = 0, end = 0;
        const ExpressionField* field = nullptr; // where it is a field alone
        const Token* name = nullptr; // of that field, as it was written
        const Token* literal
            = nullptr; // a text value, not yet looked up: which field it belongs to, the other side says
    };

    bool either(Operand& operand);
    bool both(Operand& operand);
    bool opposite(Operand& operand);
    bool comparison(Operand& operand);
    bool membership(Operand& operand, bool negated);
    bool sum(Operand& operand);
    bool product(Operand& operand);
    bool unary(Operand& operand);
    bool primary(Operand& operand);
    bool word(Operand& operand);
    bool call(const Token& name, Operand& operand);

    bool compare(Expression::Op op, const Operand& left, const Operand& right, Operand& result);
    // A field's name that is also a value of the text field on the other side is meant as that value.
    static void take_as_value(Operand& operand, const Operand& other);
    // A text value as the index of its spelling in the other side's field.
    bool settle_text(Operand& literal, const Operand& other);
    bool expect_kind(const Operand& operand, ValueKind kind);
    static void join(Operand& left, const Operand& right, Expression::Op op);

    [[nodiscard]] const Token& look() const { return tokens_[at_]; }
    [[nodiscard]] bool is(std::string_view sign) const;
    bool take(std::string_view sign);
    bool expect(std::string_view sign, const char* message);
    bool fail(std::size_t position, std::size_t length, std::string message, std::string hint = "");
    bool fail_here(const std::string& expected);

    const std::vector<Token>& tokens_;
    const FieldSet& fields_;
    std::size_t at_ = 0;
    int depth_ = 0;
    ExpressionError error_;
};

inline constexpr int kMaxExpressionDepth = 200; // of nested parentheses, functions and signs

// A function by its name: nullptr where there is none.
struct ExpressionFunction {
    std::string_view name;
    Expression::Op op;
    int least, most; // arguments
};
std::span<const ExpressionFunction> expression_functions();

} // namespace fourfold
