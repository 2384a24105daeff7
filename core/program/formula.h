// SPDX-License-Identifier: GPL-3.0-or-later
// Sizes that can say how they came about. A size is written once, as a template over its number: with `double` it is
// the size alone, as fast as if nothing could be explained; with `Formula` the same expression writes itself down.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace fourfold {

// The value of an arithmetic expression with its text: "tokens 8192 * bytes 2 * (hidden 4096 + queries 4096 / TP 4)".
// Factors and divisors of 1 and terms of 0 leave no text.
class Formula {
public:
    // What the text names by its size alone, with a formula of its own.
    struct Named {
        std::string label;
        double value = 0; // bytes
        std::string text;
        std::vector<Named> named;
    };

    Formula(double value); // NOLINT(google-explicit-constructor): plain numbers in an expression
    Formula(std::string_view label, double value); // reads "label value"
    Formula(std::string_view label, Formula of); // reads "label 12.3 MB"; `of` is what it names

    [[nodiscard]] double value() const { return value_; }
    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] const std::vector<Named>& named() const { return named_; }
    // The same text for a value that is the same but for rounding.
    [[nodiscard]] Formula with_value(double value) const;

    friend Formula operator+(const Formula& a, const Formula& b);
    friend Formula operator-(const Formula& a, const Formula& b);
    friend Formula operator*(const Formula& a, const Formula& b);
    friend Formula operator/(const Formula& a, const Formula& b);
    Formula& operator+=(const Formula& other) { return *this = *this + other; }
    Formula& operator*=(const Formula& other) { return *this = *this * other; }

private:
    enum class Binding { sum, product, number };
    Formula(double value, Binding binding, std::string text, const Formula& a, const Formula& b);
    [[nodiscard]] std::string inside(Binding least) const; // in brackets where it binds less

    double value_ = 0;
    Binding binding_ = Binding::number;
    std::string text_;
    std::vector<Named> named_;
};

inline double value_of(double number)
{
    return number;
}
inline double value_of(const Formula& formula)
{
    return formula.value();
}

// An input of a size: the plain number, or the number with its name.
template <typename Number>
Number input(std::string_view label, double value)
{
    if constexpr (std::is_same_v<Number, double>)
        return value;
    else
        return Number(label, value);
}

// A part of a size that is worth a line of its own.
template <typename Number>
Number part(std::string_view label, const Number& size)
{
    if constexpr (std::is_same_v<Number, double>)
        return size;
    else
        return Number(label, size);
}

// As std::max and std::min.
template <typename Number>
const Number& larger(const Number& a, const Number& b)
{
    return value_of(a) < value_of(b) ? b : a;
}
template <typename Number>
const Number& smaller(const Number& a, const Number& b)
{
    return value_of(b) < value_of(a) ? b : a;
}

} // namespace fourfold
