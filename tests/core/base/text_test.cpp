// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/expected.h"
#include "core/base/text.h"

#include <gtest/gtest.h>

#include <memory>

namespace fourfold {
namespace {

TEST(Text, Utf8)
{
    for (const char* good :
        {"", "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"})
        EXPECT_TRUE(is_utf8(good)) << good;
    // Lone, overlong, surrogate, beyond U+10FFFF, cut off.
    for (const char* bad : {"\x80", "\xff", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
             "\xf5\x80\x80\x80", "\xe2\x82", "\xf0\x9f\x98", "a\xc3"})
        EXPECT_FALSE(is_utf8(bad));
}

TEST(Text, Printable)
{
    EXPECT_EQ(printable("a\xff\xc3\xa9"), "a?\xc3\xa9");
    EXPECT_EQ(printable("abcdef", 3), "abc...");
    EXPECT_EQ(printable("ab\xc3\xa9", 3), "ab..."); // never cuts a character
    EXPECT_TRUE(is_utf8(printable(std::string(1000, '\xe2'))));
    EXPECT_EQ(in_quotes("x"), "\"x\"");
}

TEST(Text, EditDistance)
{
    EXPECT_EQ(edit_distance("", ""), 0u);
    EXPECT_EQ(edit_distance("abc", ""), 3u);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
    EXPECT_EQ(edit_distance("flaw", "lawn"), 2u);
}

TEST(Text, NearestWords)
{
    const std::vector<std::string> ids{"llama-3.1-8b", "llama-3.1-70b", "gpt3-175b", "mixtral-8x7b"};
    EXPECT_EQ(nearest_words("llama-3.1-8B", ids, 1), std::vector<std::string>{"llama-3.1-8b"});
    EXPECT_EQ(nearest_words("llama3.1-70b", ids, 1), std::vector<std::string>{"llama-3.1-70b"});
    EXPECT_EQ(nearest_words("175b", ids), std::vector<std::string>{"gpt3-175b"});
    EXPECT_TRUE(nearest_words("falcon", ids).empty());
    // Equally far: the longest common beginning first.
    EXPECT_EQ(nearest_words("layout.tpp", {"layout.pp", "layout.tp"}, 1), std::vector<std::string>{"layout.tp"});
    EXPECT_EQ(joined({"a", "b"}, " or "), "a or b");
}

TEST(Problem, IsOneLine)
{
    const Problem problem{ProblemCode::bad_input, "found\n\"x\"", "use\ty\x1b", "file"};
    EXPECT_EQ(problem.line(), "file: found \"x\" (use y\\x1b)");
    EXPECT_EQ(Problem{}.line(), "");
}

TEST(Problem, ExitStatus)
{
    for (const auto code : {ProblemCode::bad_input, ProblemCode::not_found, ProblemCode::unsupported})
        EXPECT_EQ((Problem{code, "", "", ""}.exit_status()), 2);
    for (const auto code :
        {ProblemCode::io, ProblemCode::network, ProblemCode::refused, ProblemCode::cancelled, ProblemCode::failed})
        EXPECT_EQ((Problem{code, "", "", ""}.exit_status()), 1);
}

Expected<int> half(int value)
{
    if (value % 2 != 0)
        return Problem{ProblemCode::bad_input, "odd", "", ""};
    return value / 2;
}

Expected<int> quarter(int value)
{
    FOURFOLD_TRY(const int once, half(value));
    return half(once);
}

Expected<void> checked(int value)
{
    FOURFOLD_CHECK(quarter(value));
    return {};
}

TEST(Expected, HandsProblemsOn)
{
    EXPECT_EQ(*quarter(8), 2);
    EXPECT_EQ(quarter(6).error().message, "odd");
    EXPECT_TRUE(checked(4));
    EXPECT_EQ(checked(3).error().message, "odd");
    Expected<std::unique_ptr<int>> moved(std::make_unique<int>(5));
    EXPECT_EQ(*std::move(moved).value(), 5);
}

} // namespace
} // namespace fourfold
