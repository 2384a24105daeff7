// SPDX-License-Identifier: GPL-3.0-or-later
// Expressions that Oniguruma and PCRE2 read differently: what is found is what Hugging Face's tokenizers 0.22 find.
#include "core/tokenizer/regular_expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace fourfold {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> found(const std::string& pattern, std::string_view text)
{
    const auto expression = RegularExpression::compile(pattern, "here");
    EXPECT_TRUE(expression) << pattern << ": " << (expression ? "" : expression.error().line());
    std::vector<std::string> all;
    RegularExpression::Workspace workspace;
    bool more = bool(expression);
    for (std::size_t from = 0; more && from <= text.size();) {
        RegularExpression::Match match;
        EXPECT_TRUE(expression->search(text, from, workspace, more, match)) << pattern;
        if (!more)
            break;
        all.emplace_back(text.substr(match.begin, match.end - match.begin));
        from = match.end > match.begin ? match.end : match.end + 1;
    }
    return all;
}

std::string refused(const std::string& pattern)
{
    const auto expression = RegularExpression::compile(pattern, "here");
    return expression ? "" : expression.error().line();
}

TEST(RegularExpression, LettersBehindABackslashAreOnigurumas)
{
    EXPECT_THAT(found(R"(\h+)", "x1Fg ab"), ElementsAre("1F", "ab"));
    EXPECT_THAT(found(R"(\H+)", "x1Fg ab"), ElementsAre("x", "g "));
    EXPECT_THAT(found(R"([\h_]+)", "x1_Fg"), ElementsAre("1_F"));
    EXPECT_THAT(found(R"([\H]+)", "x1Fg"), ElementsAre("x", "g"));
    EXPECT_THAT(found(R"([^\h]+)", "x1Fg"), ElementsAre("x", "g"));
    EXPECT_THAT(found(R"(\v)", "a\nb\vc"), ElementsAre("\v"));
    EXPECT_THAT(found(R"([\v])", "a\nb\vc"), ElementsAre("\v"));
    EXPECT_THAT(found(R"(\u4e2d)", "a\u4e2db"), ElementsAre("\u4e2d"));
    EXPECT_THAT(found(R"(\Qa\E)", "a QaE"), ElementsAre("QaE"));
    EXPECT_THAT(found(R"(\x{4E2D}{2})", "a\u4e2d\u4e2d"), ElementsAre("\u4e2d\u4e2d"));
}

TEST(RegularExpression, LinesBeginAndEndEverywhere)
{
    EXPECT_THAT(found(R"(^\w+)", "ab cd\nef\n\ngh"), ElementsAre("ab", "ef", "gh"));
    EXPECT_THAT(found(R"(\w+$)", "ab cd\nef\n\ngh"), ElementsAre("cd", "ef", "gh"));
    EXPECT_THAT(found(R"(\s++$|\s)", "a \n b "), ElementsAre(" ", "\n", " ", " "));
    EXPECT_THAT(found(R"(a.)", "ab a\n a\r"), ElementsAre("ab", "a\r"));
    EXPECT_THAT(found(R"((?m)a.)", "ab a\n a\r"), ElementsAre("ab", "a\n", "a\r"));
    EXPECT_THAT(found(R"((?m:a.)b.)", "a\nbc a\nb\n"), ElementsAre("a\nbc"));
    EXPECT_THAT(found(R"((?mi-x)A.)", "a\n"), ElementsAre("a\n"));
}

TEST(RegularExpression, IntervalsAreNeverPossessive)
{
    EXPECT_THAT(found("a{,2}b", "b ab aaab"), ElementsAre("b", "ab", "aab"));
    EXPECT_THAT(found(R"(\p{N}{1,3}+)", "12345 6"), ElementsAre("12345", "6"));
    EXPECT_THAT(found("(?:ab){2}+c", "ababababc"), ElementsAre("ababababc"));
    EXPECT_THAT(found("[ab]{2}?c", "abc c"), ElementsAre("abc", "c"));
    EXPECT_THAT(found("\u4e2d{2}+", "\u4e2d\u4e2d\u4e2d\u4e2d"), ElementsAre("\u4e2d\u4e2d\u4e2d\u4e2d"));
    EXPECT_THAT(found("a{1,3}?", "aa"), ElementsAre("a", "a"));
    EXPECT_THAT(found("a++b", "aab"), ElementsAre("aab"));
    EXPECT_THAT(found("a{x}", "a{x}"), ElementsAre("a{x}"));
    // A comment is nothing: not a set, not a group, not what a quantifier repeats.
    EXPECT_THAT(found(R"(a(?#[x (b\) c\) &&)b)", "ab axb"), ElementsAre("ab"));
    EXPECT_THAT(found("(?:ab(?#c))+(?#d){2}", "ababab"), ElementsAre("ababab"));
    EXPECT_THAT(found("a+(?#greedy)+b", "aaab"), ElementsAre("aaab"));
    EXPECT_THAT(found("a+(?#not possessive)+ab", "aaab"), ElementsAre("aaab"));
}

// U+3001 is a comma of several scripts, among them Han by its extensions.
TEST(RegularExpression, AScriptIsNotItsExtensions)
{
    EXPECT_THAT(found(R"(\p{Han}+)", "\u4e2d\u3001\u6587"), ElementsAre("\u4e2d", "\u6587"));
    EXPECT_THAT(found(R"([\p{Han}x]+)", "\u4e2dx\u3001"), ElementsAre("\u4e2dx"));
    EXPECT_THAT(found(R"(\P{Han}+)", "\u4e2d\u3001\u6587"), ElementsAre("\u3001"));
    EXPECT_THAT(found(R"(\p{^Han}+)", "\u4e2d\u3001\u6587"), ElementsAre("\u3001"));
    EXPECT_THAT(found(R"(\p{Lu}\p{L}+)", "Ab bc"), ElementsAre("Ab"));
}

TEST(RegularExpression, WhatCannotBeSaidIsRefused)
{
    EXPECT_THAT(refused("[a-z&&[^b]]"), HasSubstr("an intersection of sets (&&)"));
    EXPECT_THAT(refused("[a[bc]]"), HasSubstr("a set within a set"));
    EXPECT_THAT(refused("(?~ab)"), HasSubstr("an absent group"));
    EXPECT_THAT(refused("(*LIMIT_MATCH=1)a"), HasSubstr("a verb or a callout"));
    EXPECT_THAT(refused("(?s)."), HasSubstr("the option s"));
    EXPECT_THAT(refused(R"(\C-a)"), HasSubstr("a control or meta character"));
    EXPECT_THAT(refused(R"(\u12)"), HasSubstr("four hexadecimal digits"));
    EXPECT_THAT(refused("a(?#b"), HasSubstr("missing ) after (?# comment"));
    EXPECT_THAT(refused("(["), HasSubstr("missing terminating ]"));
    for (const char* const cut :
        {"\\", "[", "[^", "[]", "(", "(?", "{", "{1", "{1,", "a{1,", "\\p{", "\\p", "\\x{", "[[:", "[\\", ")"})
        (void)refused(cut); // does not end the program
    EXPECT_THAT(found("[]a]", "a]b"), ElementsAre("a", "]"));
    EXPECT_THAT(found("[[:alpha:]_]+", "ab_1"), ElementsAre("ab_"));
    EXPECT_THAT(found("x", ""), IsEmpty());
}

} // namespace
} // namespace fourfold
