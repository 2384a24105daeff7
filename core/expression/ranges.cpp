// SPDX-License-Identifier: GPL-3.0-or-later
// Expressions over ranges. Rounding to nearest keeps the order of results, so that what bounds the operands bounds what
// is computed of them as well.
#include "core/expression/expression.h"

#include <algorithm>
#include <cmath>

namespace fourfold {
namespace {

using Op = Expression::Op;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr ValueRange kAnything{-kInfinity, kInfinity, true};
constexpr ValueRange kNothing{kInfinity, -kInfinity, true}; // certainly not known

// The range over all `ends`; anything where one of them is not a number.
template <typename... Ends>
ValueRange over(bool unknown, Ends... ends)
{
    if ((std::isnan(ends) || ...))
        return kAnything;
    return {std::min({ends...}), std::max({ends...}), unknown};
}

ValueRange unary(Op op, const ValueRange& a)
{
    if (a.is_empty())
        return kNothing;
    const double most = std::max(std::abs(a.low), std::abs(a.high));
    const bool negative = a.low < 0;
    switch (op) {
    case Op::negate:
        return {-a.high, -a.low, a.unknown};
    case Op::abs:
        return {negative && a.high > 0 ? 0 : std::min(std::abs(a.low), std::abs(a.high)), most, a.unknown};
    case Op::ceil:
        return {std::ceil(a.low), std::ceil(a.high), a.unknown};
    case Op::floor:
        return {std::floor(a.low), std::floor(a.high), a.unknown};
    case Op::round:
        return {std::round(a.low), std::round(a.high), a.unknown};
    default:
        break;
    }
    if (a.high < 0)
        return kNothing;
    const double low = std::max(0.0, a.low);
    return op == Op::log2 ? ValueRange{std::log2(low), std::log2(a.high), a.unknown || negative}
                          : ValueRange{std::sqrt(low), std::sqrt(a.high), a.unknown || negative};
}

ValueRange modulo(const ValueRange& a, const ValueRange& b, bool unknown)
{
    if (a.low == a.high && b.low == b.high) {
        const double rest = std::fmod(a.low, b.low);
        return std::isnan(rest) ? kNothing : ValueRange{rest, rest, unknown};
    }
    const double most
        = std::min(std::max(std::abs(a.low), std::abs(a.high)), std::max(std::abs(b.low), std::abs(b.high)));
    return {a.low < 0 ? -most : 0, most, true};
}

ValueRange binary(Op op, const ValueRange& a, const ValueRange& b)
{
    if (a.is_empty() || b.is_empty())
        return kNothing;
    const bool unknown = a.unknown || b.unknown;
    switch (op) {
    case Op::add:
        return over(unknown, a.low + b.low, a.high + b.high);
    case Op::subtract:
        return over(unknown, a.low - b.high, a.high - b.low);
    case Op::multiply:
        return over(unknown, a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high);
    case Op::divide:
        if (b.low <= 0 && b.high >= 0)
            return kAnything;
        return over(unknown, a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high);
    case Op::modulo:
        return modulo(a, b, unknown);
    case Op::min:
        return {std::min(a.low, b.low), std::min(a.high, b.high), unknown};
    default:
        return {std::max(a.low, b.low), std::max(a.high, b.high), unknown};
    }
}

// Of a truth value: [0, 0], [1, 1] or [0, 1], and how far it is from holding at least.
struct Bound {
    ValueRange range;
    double miss = 0;
};

Bound truth(bool may_fail, bool may_hold, double miss)
{
    return {{may_fail ? 0.0 : 1.0, may_hold ? 1.0 : 0.0, false}, may_hold ? 0 : miss};
}

Bound compared(const Expression::Step& step, const ValueRange& a, const ValueRange& b)
{
    const bool unknown = a.unknown || b.unknown, apart = a.high < b.low || b.high < a.low;
    const bool points = a.low == a.high && b.low == b.high;
    bool may_hold = false, may_fail = false;
    switch (step.op) {
    case Op::equal:
        may_hold = !apart;
        may_fail = !points || apart;
        break;
    case Op::unequal:
        may_hold = !points || apart;
        may_fail = !apart;
        break;
    case Op::less:
        may_hold = a.low < b.high;
        may_fail = a.high >= b.low;
        break;
    case Op::less_equal:
        may_hold = a.low <= b.high;
        may_fail = a.high > b.low;
        break;
    case Op::greater:
        may_hold = a.high > b.low;
        may_fail = a.low <= b.high;
        break;
    default:
        may_hold = a.high >= b.low;
        may_fail = a.low < b.high;
        break;
    }
    if (a.is_empty() || b.is_empty())
        may_hold = false;
    const double gap = std::max({0.0, a.low - b.high, b.low - a.high});
    // Where the sides can come as near as one likes, the distance is known to be above 0 only.
    const double miss = step.constant != 0 ? 1 : gap > 0 ? gap : std::numeric_limits<double>::min();
    return truth(may_fail || unknown, may_hold, miss);
}

} // namespace

Expression::Outlook Expression::outlook(std::span<const ValueRange> ranges) const
{
    std::vector<Bound> stack;
    stack.reserve(depth_);
    const auto pop = [&] {
        const Bound top = stack.back();
        stack.pop_back();
        return top;
    };
    for (const Step& step : steps_) {
        if (step.op == Op::constant) {
            stack.push_back({{step.constant, step.constant, false}, step.constant != 0 ? 0.0 : 1.0});
        } else if (step.op == Op::field) {
            const ValueRange& range = ranges[step.slot];
            if (step.constant != 0) // a truth that is not known does not hold
                stack.push_back(truth(range.low <= 0 || range.unknown, range.high >= 1, 1));
            else
                stack.push_back({range, 0});
        } else if (step.op <= Op::sqrt) {
            stack.push_back({unary(step.op, pop().range), 0});
        } else if (step.op == Op::opposite) {
            const Bound a = pop();
            stack.push_back(truth(a.range.high >= 1, a.range.low <= 0, 1));
        } else {
            const Bound b = pop(), a = pop();
            if (step.op >= Op::equal && step.op <= Op::greater_equal)
                stack.push_back(compared(step, a.range, b.range));
            else if (step.op == Op::both)
                stack.push_back({{std::min(a.range.low, b.range.low), std::min(a.range.high, b.range.high), false},
                    std::max(a.miss, b.miss)});
            else if (step.op == Op::either)
                stack.push_back({{std::max(a.range.low, b.range.low), std::max(a.range.high, b.range.high), false},
                    std::min(a.miss, b.miss)});
            else
                stack.push_back({binary(step.op, a.range, b.range), 0});
        }
    }
    const Bound result = pop();
    return {result.range.low >= 1, result.range.high >= 1, result.miss};
}

} // namespace fourfold
