// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/thrown.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <vector>

namespace fourfold {
namespace {

TEST(UnlessThrown, WhatIsThrownIsAProblemAtItsPlace)
{
    const auto answer = unless_thrown("plans:7", [] { return Expected<int>(42); });
    ASSERT_TRUE(answer);
    EXPECT_EQ(*answer, 42);
    const auto refused = unless_thrown("plans:7", [] {
        return Expected<int>(Problem{ProblemCode::bad_input, "no", "", "x"});
    });
    EXPECT_EQ(refused.error().line(), "x: no");

    const auto memory = unless_thrown("plans:7", [] {
        const std::vector<char> large(std::size_t(std::numeric_limits<std::ptrdiff_t>::max()) / 2);
        return Expected<int>(int(large.size()));
    });
    ASSERT_FALSE(memory);
    EXPECT_EQ(memory.error().line(), "plans:7: there is not enough memory for this");
    EXPECT_EQ(memory.error().exit_status(), 1);
    const auto other = unless_thrown("plans:7", []() -> Expected<int> { throw std::runtime_error("odd"); });
    EXPECT_EQ(other.error().line(), "plans:7: unexpected: odd (please report this with the command line)");
}

} // namespace
} // namespace fourfold
