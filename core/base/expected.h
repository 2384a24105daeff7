// SPDX-License-Identifier: GPL-3.0-or-later
// A value or the Problem that kept it from being made (GCC 12 has no std::expected).
#pragma once

#include "core/base/problem.h"

#include <cassert>
#include <utility>
#include <variant>

namespace fourfold {

template <typename T>
class [[nodiscard]] Expected {
public:
    Expected(T value)
        : state_(std::in_place_index<0>, std::move(value))
    {
    }
    Expected(Problem problem)
        : state_(std::in_place_index<1>, std::move(problem))
    {
    }

    [[nodiscard]] bool has_value() const { return state_.index() == 0; }
    explicit operator bool() const { return has_value(); }

    // Precondition of the value accessors: has_value(); of error(): !has_value().
    T& operator*() & { return (assert(has_value()), std::get<0>(state_)); }
    const T& operator*() const& { return (assert(has_value()), std::get<0>(state_)); }
    T&& operator*() && { return (assert(has_value()), std::get<0>(std::move(state_))); }
    T* operator->() { return &**this; }
    const T* operator->() const { return &**this; }
    T& value() & { return **this; }
    const T& value() const& { return **this; }
    T&& value() && { return *std::move(*this); }
    Problem& error() & { return std::get<1>(state_); }
    const Problem& error() const& { return std::get<1>(state_); }
    Problem&& error() && { return std::get<1>(std::move(state_)); }

private:
    std::variant<T, Problem> state_;
};

template <>
class [[nodiscard]] Expected<void> {
public:
    Expected() = default;
    Expected(Problem problem)
        : problem_(std::move(problem))
        , failed_(true)
    {
    }

    [[nodiscard]] bool has_value() const { return !failed_; }
    explicit operator bool() const { return has_value(); }
    Problem& error() & { return problem_; }
    const Problem& error() const& { return problem_; }
    Problem&& error() && { return std::move(problem_); }

private:
    Problem problem_;
    bool failed_ = false;
};

} // namespace fourfold

// `FOURFOLD_TRY(auto x, expression)`: x is the value, or the enclosing function returns the expression's Problem.
#define FOURFOLD_CONCAT_(a, b) a##b
#define FOURFOLD_CONCAT(a, b) FOURFOLD_CONCAT_(a, b)
#define FOURFOLD_TRY(declaration, ...)                                                                                 \
    auto FOURFOLD_CONCAT(expected_, __LINE__) = (__VA_ARGS__);                                                         \
    if (!FOURFOLD_CONCAT(expected_, __LINE__))                                                                         \
        return std::move(FOURFOLD_CONCAT(expected_, __LINE__)).error();                                                \
    declaration = *std::move(FOURFOLD_CONCAT(expected_, __LINE__))
// The same for Expected<void>.
#define FOURFOLD_CHECK(...)                                                                                            \
    do {                                                                                                               \
        if (auto checked_ = (__VA_ARGS__); !checked_)                                                                  \
            return std::move(checked_).error();                                                                        \
    } while (false)
