// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/formula.h"

#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace fourfold {
namespace {

// 6.6372e9 as "6.637e9", 8192 as "8192".
std::string digits(double number)
{
    if (std::abs(number) < 1e6)
        return text_of("%.6g", number);
    const double power = std::floor(std::log10(std::abs(number)));
    return text_of("%.4ge%.0f", number / std::pow(10, power), power);
}

} // namespace

Formula::Formula(double value)
    : value_(value)
    , text_(digits(value))
{
}

Formula::Formula(std::string_view label, double value)
    : value_(value)
    , text_(std::string(label) + " " + digits(value))
{
}

Formula::Formula(std::string_view label, Formula of)
    : value_(of.value_)
{
    text_
        = std::string(label) + (value_ >= 1e10 ? text_of(" %.4g GB", value_ / 1e9) : text_of(" %.4g MB", value_ / 1e6));
    named_.push_back({std::string(label), of.value_, std::move(of.text_), std::move(of.named_)});
}

Formula::Formula(double value, Binding binding, std::string text, const Formula& a, const Formula& b)
    : value_(value)
    , binding_(binding)
    , text_(std::move(text))
    , named_(a.named_)
{
    for (const Named& other : b.named_) {
        if (std::none_of(named_.begin(), named_.end(), [&](const Named& one) { return one.label == other.label; }))
            named_.push_back(other);
    }
}

Formula Formula::with_value(double value) const
{
    Formula same = *this;
    same.value_ = value;
    return same;
}

std::string Formula::inside(Binding least) const
{
    return binding_ < least ? "(" + text_ + ")" : text_;
}

Formula operator+(const Formula& a, const Formula& b)
{
    const double value = a.value_ + b.value_;
    if (a.value_ == 0 || b.value_ == 0)
        return (b.value_ == 0 ? a : b).with_value(value);
    return {value, Formula::Binding::sum, a.text_ + " + " + b.text_, a, b};
}

Formula operator-(const Formula& a, const Formula& b)
{
    const double value = a.value_ - b.value_;
    if (b.value_ == 0)
        return a;
    return {value, Formula::Binding::sum, a.text_ + " - " + b.inside(Formula::Binding::product), a, b};
}

Formula operator*(const Formula& a, const Formula& b)
{
    using enum Formula::Binding;
    const double value = a.value_ * b.value_;
    if (value == 0)
        return {0.0};
    if (a.value_ == 1 || b.value_ == 1)
        return (b.value_ == 1 ? a : b).with_value(value);
    return {value, product, a.inside(product) + " * " + b.inside(product), a, b};
}

Formula operator/(const Formula& a, const Formula& b)
{
    using enum Formula::Binding;
    const double value = a.value_ / b.value_;
    if (b.value_ == 1 || a.value_ == 0)
        return a;
    return {value, product, a.inside(product) + " / " + b.inside(number), a, b};
}

} // namespace fourfold
