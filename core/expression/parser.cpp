// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/expression/parser.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>

namespace fourfold {
namespace {

using Op = Expression::Op;

constexpr std::size_t kMostShown = 12; // values of a text field in a message

constexpr std::array<ExpressionFunction, 8> kFunctions{
    {{"abs", Op::abs, 1, 1}, {"ceil", Op::ceil, 1, 1}, {"floor", Op::floor, 1, 1}, {"log2", Op::log2, 1, 1},
        {"max", Op::max, 2, 16}, {"min", Op::min, 2, 16}, {"round", Op::round, 1, 1}, {"sqrt", Op::sqrt, 1, 1}}};

struct Comparison {
    std::string_view sign;
    Op op;
};
constexpr std::array<Comparison, 6> kComparisons{{{"==", Op::equal}, {"!=", Op::unequal}, {"<", Op::less},
    {"<=", Op::less_equal}, {">", Op::greater}, {">=", Op::greater_equal}}};

std::string kind_name(ValueKind kind)
{
    return kind == ValueKind::number ? "a number" : kind == ValueKind::truth ? "a condition" : "a text";
}

// Upper and lower case alike; the end where it is none.
std::vector<std::string>::const_iterator spelling_of(const ExpressionField& field, const std::string& word)
{
    return std::find_if(field.spellings.begin(), field.spellings.end(),
        [value = lower_case(word)](const std::string& spelling) { return lower_case(spelling) == value; });
}

constexpr const char* kNoUnit = "numbers stand without a unit: memory in GiB, times in seconds";
} // namespace

std::span<const ExpressionFunction> expression_functions()
{
    return kFunctions;
}

bool ExpressionParser::fail(std::size_t position, std::size_t length, std::string message, std::string hint)
{
    if (error_.message.empty())
        error_ = {position, length, std::move(message), std::move(hint)};
    return false;
}

bool ExpressionParser::fail_here(const std::string& expected)
{
    const Token& token = look();
    const std::string found = token.kind == TokenKind::end ? "the text ends" : "found " + in_quotes(token.text);
    return fail(token.position, token.length, found + ", expected " + expected);
}

bool ExpressionParser::is(std::string_view sign) const
{
    const Token& token = look();
    return (token.kind == TokenKind::sign || token.kind == TokenKind::word) && token.text == sign;
}

bool ExpressionParser::take(std::string_view sign)
{
    if (!is(sign))
        return false;
    ++at_;
    return true;
}

bool ExpressionParser::expect(std::string_view sign, const char* message)
{
    return take(sign) || fail_here(message);
}

bool ExpressionParser::expect_kind(const Operand& operand, ValueKind kind)
{
    if (operand.literal && operand.literal->kind == TokenKind::word) {
        const std::string& name = operand.literal->text;
        const bool is_number = name.front() >= '0' && name.front() <= '9'; // "80GB"
        const auto nearest = is_number ? std::vector<std::string>() : fields_.nearest(name);
        return fail(operand.begin, operand.end - operand.begin, "unknown field " + in_quotes(name),
            is_number             ? kNoUnit
                : nearest.empty() ? ""
                                  : "did you mean " + joined(nearest, " or ") + "?");
    }
    return operand.kind == kind
        || fail(operand.begin, operand.end - operand.begin,
            "this is " + kind_name(operand.kind) + ", expected " + kind_name(kind));
}

void ExpressionParser::join(Operand& left, const Operand& right, Op op)
{
    left.steps.insert(left.steps.end(), right.steps.begin(), right.steps.end());
    left.steps.push_back({op, 0, 0});
    left.end = right.end;
    left.field = nullptr;
}

bool ExpressionParser::parse(const std::string& text, ValueKind kind, Expression& result)
{
    Operand whole;
    if (!either(whole))
        return false;
    if (look().kind == TokenKind::word && at_ > 0 && tokens_[at_ - 1].kind == TokenKind::number) // "80 GB"
        return fail(look().position, look().length, "found " + in_quotes(look().text) + " behind a number", kNoUnit);
    if (look().kind != TokenKind::end)
        return fail_here("an operator or the end");
    if (!expect_kind(whole, kind))
        return false;
    result.text_ = text;
    result.kind_ = kind;
    result.steps_ = std::move(whole.steps);
    std::size_t depth = 0;
    for (const Expression::Step& step : result.steps_) {
        if (step.op == Op::constant || step.op == Op::field)
            result.depth_ = std::max(result.depth_, ++depth);
        else if (step.op > Op::opposite)
            --depth;
        if (step.op == Op::field)
            result.slots_.push_back(step.slot);
    }
    std::sort(result.slots_.begin(), result.slots_.end());
    result.slots_.erase(std::unique(result.slots_.begin(), result.slots_.end()), result.slots_.end());
    return true;
}

bool ExpressionParser::either(Operand& operand)
{
    if (!both(operand))
        return false;
    while (is("or")) {
        if (!expect_kind(operand, ValueKind::truth))
            return false;
        ++at_;
        Operand right;
        if (!both(right) || !expect_kind(right, ValueKind::truth))
            return false;
        join(operand, right, Op::either);
    }
    return true;
}

bool ExpressionParser::both(Operand& operand)
{
    if (!opposite(operand))
        return false;
    while (is("and")) {
        if (!expect_kind(operand, ValueKind::truth))
            return false;
        ++at_;
        Operand right;
        if (!opposite(right) || !expect_kind(right, ValueKind::truth))
            return false;
        join(operand, right, Op::both);
    }
    return true;
}

bool ExpressionParser::opposite(Operand& operand)
{
    const std::size_t begin = look().position;
    bool negated = false;
    while (take("not"))
        negated = !negated;
    if (!comparison(operand))
        return false;
    if (operand.begin != begin && !expect_kind(operand, ValueKind::truth))
        return false;
    if (negated)
        operand.steps.push_back({Op::opposite, 0, 0});
    operand.begin = begin;
    return true;
}

void ExpressionParser::take_as_value(Operand& operand, const Operand& other)
{
    if (!operand.field || operand.kind == ValueKind::text || !other.field || other.kind != ValueKind::text
        || spelling_of(*other.field, operand.name->text) == other.field->spellings.end())
        return;
    operand.kind = ValueKind::text;
    operand.field = nullptr;
    operand.literal = operand.name;
    operand.steps.clear();
}

bool ExpressionParser::settle_text(Operand& literal, const Operand& other)
{
    if (!other.field || other.kind != ValueKind::text)
        return expect_kind(literal, other.kind);
    const auto& spellings = other.field->spellings;
    const auto found = spelling_of(*other.field, literal.literal->text);
    if (found == spellings.end()) {
        const std::size_t shown = std::min(spellings.size(), kMostShown);
        const std::string all = joined({spellings.begin(), spellings.begin() + std::ptrdiff_t(shown)}, ", ");
        return fail(literal.begin, literal.end - literal.begin,
            in_quotes(literal.literal->text) + " is no value of " + other.field->name,
            spellings.empty() ? "it has none here" : "expected " + all + (shown < spellings.size() ? " ..." : ""));
    }
    literal.steps = {{Op::constant, 0, double(found - spellings.begin())}};
    literal.literal = nullptr;
    return true;
}

bool ExpressionParser::compare(Op op, const Operand& left, const Operand& right, Operand& result)
{
    Operand a = left, b = right;
    take_as_value(a, b);
    take_as_value(b, a);
    if (a.literal && b.literal)
        return expect_kind(a, ValueKind::number);
    if (a.literal && !settle_text(a, b))
        return false;
    if (b.literal && !settle_text(b, a))
        return false;
    if (a.kind != b.kind)
        return fail(b.begin, b.end - b.begin,
            "this is " + kind_name(b.kind) + ", what it is compared with is " + kind_name(a.kind));
    const bool numbers = a.kind == ValueKind::number;
    if (!numbers && op != Op::equal && op != Op::unequal)
        return fail(a.begin, b.end - a.begin, "only numbers have an order", "use == or !=");
    if (a.kind == ValueKind::text && a.field && b.field && a.field != b.field)
        return fail(b.begin, b.end - b.begin, "two different text fields have no values in common");
    join(a, b, op);
    a.steps.back().constant = numbers ? 0 : 1;
    a.kind = ValueKind::truth;
    result = std::move(a);
    return true;
}

bool ExpressionParser::comparison(Operand& operand)
{
    Operand left;
    if (!sum(left))
        return false;
    if (take("in"))
        return membership(operand = std::move(left), false);
    if (is("not") && tokens_[at_ + 1].text == "in") {
        at_ += 2;
        return membership(operand = std::move(left), true);
    }
    bool chained = false;
    while (true) {
        const auto found = std::find_if(kComparisons.begin(), kComparisons.end(),
            [&](const Comparison& comparison) { return is(comparison.sign); });
        if (found == kComparisons.end())
            break;
        ++at_;
        Operand right, pair;
        if (!sum(right) || !compare(found->op, left, right, pair))
            return false;
        if (chained)
            join(operand, pair, Op::both);
        else
            operand = std::move(pair);
        chained = true;
        left = std::move(right);
    }
    if (!chained)
        operand = std::move(left);
    return true;
}

bool ExpressionParser::membership(Operand& operand, bool negated)
{
    const Operand left = operand;
    if (!expect("(", "( and the values"))
        return false;
    bool first = true;
    do {
        Operand value, pair;
        if (!sum(value) || !compare(Op::equal, left, value, pair))
            return false;
        if (first)
            operand = std::move(pair);
        else
            join(operand, pair, Op::either);
        first = false;
    } while (take(","));
    operand.end = look().position + look().length;
    if (negated)
        operand.steps.push_back({Op::opposite, 0, 0});
    return expect(")", ", or )");
}

bool ExpressionParser::sum(Operand& operand)
{
    if (!product(operand))
        return false;
    while (is("+") || is("-")) {
        const Op op = is("+") ? Op::add : Op::subtract;
        ++at_;
        Operand right;
        if (!expect_kind(operand, ValueKind::number) || !product(right) || !expect_kind(right, ValueKind::number))
            return false;
        join(operand, right, op);
    }
    return true;
}

bool ExpressionParser::product(Operand& operand)
{
    if (!unary(operand))
        return false;
    while (is("*") || is("/") || is("%")) {
        const Op op = is("*") ? Op::multiply : is("/") ? Op::divide : Op::modulo;
        ++at_;
        Operand right;
        if (!expect_kind(operand, ValueKind::number) || !unary(right) || !expect_kind(right, ValueKind::number))
            return false;
        join(operand, right, op);
    }
    return true;
}

bool ExpressionParser::unary(Operand& operand)
{
    const std::size_t begin = look().position;
    bool negative = false, signed_number = false;
    while (is("-") || is("+")) {
        negative = negative != is("-");
        signed_number = true;
        ++at_;
    }
    if (!primary(operand))
        return false;
    if (signed_number && !expect_kind(operand, ValueKind::number))
        return false;
    if (negative)
        operand.steps.push_back({Op::negate, 0, 0});
    if (signed_number)
        operand.field = nullptr;
    operand.begin = begin;
    return true;
}

bool ExpressionParser::primary(Operand& operand)
{
    const Token& token = look();
    operand.begin = token.position;
    operand.end = token.position + token.length;
    if (token.kind == TokenKind::number) {
        ++at_;
        operand.steps = {{Op::constant, 0, token.number}};
        return true;
    }
    if (token.kind == TokenKind::quoted) {
        ++at_;
        operand.kind = ValueKind::text;
        operand.literal = &token;
        return true;
    }
    if (token.kind == TokenKind::word && token.text != "and" && token.text != "or" && token.text != "in")
        return word(operand);
    if (!is("("))
        return fail_here("a number, a field or (");
    if (++depth_ > kMaxExpressionDepth)
        return fail(token.position, 1, "too many parentheses", "at most " + std::to_string(kMaxExpressionDepth));
    ++at_;
    if (!either(operand))
        return false;
    operand.begin = token.position;
    operand.end = look().position + look().length;
    --depth_;
    return expect(")", ")");
}

bool ExpressionParser::word(Operand& operand)
{
    const Token& token = look();
    ++at_;
    if (is("("))
        return call(token, operand);
    if (const auto slot = fields_.find(token.text)) {
        operand.field = &fields_.fields()[*slot];
        operand.name = &token;
        operand.kind = operand.field->kind;
        operand.steps = {{Op::field, *slot, operand.kind == ValueKind::truth ? 1.0 : 0.0}};
    } else if (token.text == "true" || token.text == "false") {
        operand.kind = ValueKind::truth;
        operand.steps = {{Op::constant, 0, token.text == "true" ? 1.0 : 0.0}};
    } else {
        operand.kind = ValueKind::text;
        operand.literal = &token;
    }
    return true;
}

bool ExpressionParser::call(const Token& name, Operand& operand)
{
    const auto found = std::find_if(kFunctions.begin(), kFunctions.end(),
        [&](const ExpressionFunction& function) { return function.name == name.text; });
    if (found == kFunctions.end()) {
        std::vector<std::string> names;
        for (const ExpressionFunction& function : kFunctions)
            names.emplace_back(function.name);
        return fail(
            name.position, name.length, "unknown function " + in_quotes(name.text), "expected " + joined(names, ", "));
    }
    if (++depth_ > kMaxExpressionDepth)
        return fail(
            name.position, name.length, "too many parentheses", "at most " + std::to_string(kMaxExpressionDepth));
    ++at_; // (
    int arguments = 0;
    if (!is(")")) {
        do {
            Operand argument;
            if (!sum(argument) || !expect_kind(argument, ValueKind::number))
                return false;
            operand.steps.insert(operand.steps.end(), argument.steps.begin(), argument.steps.end());
            if (++arguments > 1 && found->most > 1)
                operand.steps.push_back({found->op, 0, 0});
        } while (take(","));
    }
    operand.end = look().position + look().length;
    if (!expect(")", ", or )"))
        return false;
    --depth_;
    if (arguments < found->least || arguments > found->most)
        return fail(operand.begin, operand.end - operand.begin,
            std::string(found->name) + " takes "
                + (found->most == 1 ? "one number" : "2 to " + std::to_string(found->most) + " numbers") + ", found "
                + std::to_string(arguments));
    if (found->most == 1)
        operand.steps.push_back({found->op, 0, 0});
    return true;
}

} // namespace fourfold
