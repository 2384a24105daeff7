// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/expected.h"
#include "core/base/text.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <clocale>
#include <cstdlib>
#include <filesystem>
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

// A locale of the test's own: a name that this machine lacks would set nothing and prove nothing.
TEST(Text, NumbersAreWrittenAlikeInEveryLocale)
{
    const std::string folder = testing::TempDir() + "fourfold-locales-" + std::to_string(::getpid());
    std::filesystem::create_directories(folder);
    const std::string make = "localedef -i de_DE -f UTF-8 " + folder + "/de_DE.UTF-8 > /dev/null 2>&1";
    ASSERT_EQ(std::system(make.c_str()), 0) << "package locales";
    ::setenv("LOCPATH", folder.c_str(), 1);
    ASSERT_NE(std::setlocale(LC_ALL, "de_DE.UTF-8"), nullptr);
    char printed[8];
    std::snprintf(printed, sizeof printed, "%.1f", 1.5);
    EXPECT_STREQ(printed, "1,5") << "the locale is not at work";
    EXPECT_EQ(text_of("%.1f of %d", 1.5, 2000), "1.5 of 2000");
    std::snprintf(printed, sizeof printed, "%.1f", 1.5);
    EXPECT_STREQ(printed, "1,5") << "and the program's own is left as it was";
    std::setlocale(LC_ALL, "C");
    ::unsetenv("LOCPATH");
    std::filesystem::remove_all(folder);
}

TEST(Text, Printable)
{
    EXPECT_EQ(printable("a\xff\xc3\xa9"), "a?\xc3\xa9");
    EXPECT_EQ(printable("abcdef", 3), "abc...");
    EXPECT_EQ(printable("ab\xc3\xa9", 3), "ab..."); // never cuts a character
    EXPECT_TRUE(is_utf8(printable(std::string(1000, '\xe2'))));
    EXPECT_EQ(in_quotes("x"), "\"x\"");
}

TEST(Text, PrintableLeavesNothingThatATerminalObeys)
{
    EXPECT_EQ(printable("a\n\tb\r\nc\rd"), "a  b c d") << "one line";
    EXPECT_EQ(printable(std::string_view("\0\x1b[2J\x7f", 6)), "\\u0000\\u001b[2J\\u007f");
    // U+0080 and U+009F, but not U+00A0; U+061C; U+200E and U+200F; U+2028 to U+202E; U+2066 to U+2069.
    EXPECT_EQ(printable("\xc2\x80\xc2\x9f\xc2\xa0"), "\\u0080\\u009f\xc2\xa0");
    EXPECT_EQ(printable("\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f"), "\\u061c\\u200e\\u200f");
    EXPECT_EQ(printable("\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xae\xe2\x80\xaf"), "\xe2\x80\xa7\\u2028\\u202e\xe2\x80\xaf");
    EXPECT_EQ(printable("\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xb0"), "\xe2\x81\xa5\\u2066\\u2069\xe2\x81\xb0");
    EXPECT_EQ(printable("\xf0\x9f\x98\x80 \xe2\x82\xac", kUncut), "\xf0\x9f\x98\x80 \xe2\x82\xac")
        << "other text stays";
    EXPECT_EQ(printable("ab\x1b", 7), "ab...") << "never cuts an escape";
    EXPECT_EQ(printable_lines("a\n\tb\r\nc\rd\x1b"), "a\n\tb\r\nc\nd\\u001b");
}

TEST(Text, PrintableStreamTakesPiecesThatEndAnywhere)
{
    const std::string text = "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xc2\x9b"
                             "31m \xe2\x80\xae\r\n\r\xe2\x82 \xff \xf0\x9f\x98";
    const std::string whole = printable_lines(text);
    EXPECT_EQ(whole, "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \\u009b31m \\u202e\r\n\n?? ? ???");
    for (std::size_t size = 1; size < text.size(); ++size) {
        PrintableStream stream;
        std::string out;
        for (std::size_t at = 0; at < text.size(); at += size)
            stream.feed(std::string_view(text).substr(at, size), out);
        stream.finish(out);
        EXPECT_EQ(out, whole) << "in pieces of " << size << " bytes";
    }
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
    EXPECT_EQ(nearest_words("TP", {"cp", "pp", "tp"}, 1), std::vector<std::string>{"tp"}) << "capitals are no mistakes";
    // Equally far: the longest common beginning first.
    EXPECT_EQ(nearest_words("layout.tpp", {"layout.pp", "layout.tp"}, 1), std::vector<std::string>{"layout.tp"});
    EXPECT_EQ(joined({"a", "b"}, " or "), "a or b");
}

TEST(Problem, IsOneLine)
{
    const Problem problem{ProblemCode::bad_input, "found\n\"x\"", "use\ty\x1b", "file"};
    EXPECT_EQ(problem.line(), "file: found \"x\" (use y\\u001b)");
    EXPECT_EQ(Problem{}.line(), "");
}

TEST(Problem, ALongPlaceIsCutInItsMiddle)
{
    std::string path = "plans/";
    for (int i = 0; i < 1000; ++i)
        path += "\u00e4";
    const std::string line = Problem{ProblemCode::bad_input, "wrong", "", path + ":12: layout.tp"}.line();
    EXPECT_EQ(line.rfind("plans/\u00e4", 0), 0U) << line;
    EXPECT_TRUE(line.ends_with("\u00e4:12: layout.tp: wrong")) << line;
    EXPECT_LT(line.size(), 450U);
    EXPECT_TRUE(is_utf8(line));
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
