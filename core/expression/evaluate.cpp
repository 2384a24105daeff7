// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/expression/expression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace fourfold {
namespace {

using Op = Expression::Op;

double unary(Op op, double a)
{
    switch (op) {
    case Op::negate:
        return -a;
    case Op::abs:
        return std::abs(a);
    case Op::ceil:
        return std::ceil(a);
    case Op::floor:
        return std::floor(a);
    case Op::log2:
        return std::log2(a);
    case Op::round:
        return std::round(a);
    default:
        return std::sqrt(a);
    }
}

double binary(Op op, double a, double b)
{
    switch (op) {
    case Op::add:
        return a + b;
    case Op::subtract:
        return a - b;
    case Op::multiply:
        return a * b;
    case Op::divide: // by 0 it has no value, as modulo has none
        return b == 0 ? std::numeric_limits<double>::quiet_NaN() : a / b;
    case Op::modulo:
        return std::fmod(a, b);
    case Op::min:
        return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::min(a, b);
    default:
        return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::max(a, b);
    }
}

bool compare(Op op, double a, double b)
{
    switch (op) {
    case Op::equal:
        return a == b;
    case Op::unequal:
        return !std::isnan(a) && !std::isnan(b) && a != b;
    case Op::less:
        return a < b;
    case Op::less_equal:
        return a <= b;
    case Op::greater:
        return a > b;
    default:
        return a >= b;
    }
}

// A value, and for truth values how far it is from holding.
struct Cell {
    double value = 0, miss = 0;
};

Cell compared(const Expression::Step& step, const Cell& a, const Cell& b)
{
    if (compare(step.op, a.value, b.value))
        return {1, 0};
    const double distance = std::abs(a.value - b.value);
    // Texts and a strict bound that is just touched have no distance to tell.
    const bool countable = step.constant == 0 && distance > 0;
    return {0, countable ? distance : std::isnan(distance) ? std::numeric_limits<double>::infinity() : 1};
}

class Stack {
public:
    explicit Stack(std::size_t depth)
    {
        if (depth > small_.size())
            large_.resize(depth);
        cells_ = large_.empty() ? small_.data() : large_.data();
    }
    void push(Cell cell) { cells_[count_++] = cell; }
    Cell pop() { return cells_[--count_]; }

private:
    std::array<Cell, 16> small_;
    std::vector<Cell> large_;
    Cell* cells_ = nullptr;
    std::size_t count_ = 0;
};

Cell run(const std::vector<Expression::Step>& steps, std::size_t depth, std::span<const double> values)
{
    Stack stack(depth);
    for (const Expression::Step& step : steps) {
        if (step.op == Op::constant) {
            stack.push({step.constant, step.constant != 0 ? 0.0 : 1.0});
        } else if (step.op == Op::field) {
            const double value = values[step.slot];
            // A truth that is not known does not hold.
            const bool unknown_truth = step.constant != 0 && std::isnan(value);
            stack.push({unknown_truth ? 0 : value, value != 0 && !unknown_truth ? 0.0 : 1.0});
        } else if (step.op <= Op::sqrt) {
            stack.push({unary(step.op, stack.pop().value), 0});
        } else if (step.op == Op::opposite) {
            const bool holds = stack.pop().value == 0;
            stack.push({holds ? 1.0 : 0.0, holds ? 0.0 : 1.0});
        } else {
            const Cell b = stack.pop(), a = stack.pop();
            if (step.op >= Op::equal && step.op <= Op::greater_equal)
                stack.push(compared(step, a, b));
            else if (step.op == Op::both)
                stack.push({a.value != 0 && b.value != 0 ? 1.0 : 0.0, std::max(a.miss, b.miss)});
            else if (step.op == Op::either)
                stack.push({a.value != 0 || b.value != 0 ? 1.0 : 0.0, std::min(a.miss, b.miss)});
            else
                stack.push({binary(step.op, a.value, b.value), 0});
        }
    }
    return stack.pop();
}

} // namespace

double Expression::value(std::span<const double> values) const
{
    return run(steps_, depth_, values).value;
}

double Expression::miss(std::span<const double> values) const
{
    return run(steps_, depth_, values).miss;
}

} // namespace fourfold
