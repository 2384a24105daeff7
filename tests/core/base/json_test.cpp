// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.h"
#include "core/base/json_member.h"

#include <gtest/gtest.h>

#include <chrono>

namespace fourfold {
namespace {

TEST(ParseJson, KeepsTheOrderOfKeys)
{
    const auto json = parse_json(R"({"z": 1, "a": {"y": [1, 2.5, -3, "t", true, null]}, "m": {}})", "f");
    ASSERT_TRUE(json) << json.error().line();
    EXPECT_EQ(json->dump(), R"({"z":1,"a":{"y":[1,2.5,-3,"t",true,null]},"m":{}})");
}

TEST(MemberOr, TakesNoOtherKind)
{
    const Json json = Json::parse(R"({"text": "a", "truth": true, "number": 7, "large": 1e30, "null": null})");
    EXPECT_EQ(member_or(json, "text", std::string("b")), "a");
    EXPECT_EQ(member_or(json, "number", std::string("b")), "b");
    EXPECT_TRUE(member_or(json, "truth", false));
    EXPECT_FALSE(member_or(json, "text", false));
    EXPECT_EQ(member_or(json, "number", 0), 7);
    EXPECT_EQ(member_or(json, "large", 0), 0);
    EXPECT_EQ(member_or(json, "null", 3), 3);
    EXPECT_EQ(member_or(json, "none", 3), 3);
    EXPECT_EQ(member_or(Json(5), "none", 3), 3);
}

TEST(ParseJson, FindsARepeatedKeyAmongMany)
{
    for (const int keys : {2, 31, 32, 33, 1000}) {
        std::string text = "{";
        for (int i = 0; i < keys; ++i)
            text += "\"key" + std::to_string(i) + "\": {\"key1\": 1}, ";
        EXPECT_EQ(parse_json(text + "\"last\": 1}", "f")->size(), static_cast<std::size_t>(keys) + 1) << keys;
        for (const int again : {0, keys / 2, keys - 1}) {
            const auto json = parse_json(text + "\"key" + std::to_string(again) + "\": 1}", "f");
            ASSERT_FALSE(json) << keys << " " << again;
            EXPECT_NE(json.error().line().find("appears twice"), std::string::npos);
        }
    }
}

TEST(ParseJson, KeepsTheKindOfNumbers)
{
    const auto json = parse_json("[1, 1.0, -1, 18446744073709551615, 18446744073709551616]", "f");
    ASSERT_TRUE(json);
    EXPECT_TRUE((*json)[0].is_number_unsigned());
    EXPECT_TRUE((*json)[1].is_number_float());
    EXPECT_TRUE((*json)[2].is_number_integer());
    EXPECT_EQ((*json)[3].get<unsigned long long>(), 18446744073709551615ull);
    EXPECT_TRUE((*json)[4].is_number_float());
}

struct BadRow {
    const char* name;
    std::string text;
    const char* position;
    const char* part;
};

class BadJson : public testing::TestWithParam<BadRow> { };

TEST_P(BadJson, NamesWhereLineAndColumn)
{
    const auto json = parse_json(GetParam().text, "file.json");
    ASSERT_FALSE(json);
    const std::string line = json.error().line();
    EXPECT_EQ(json.error().code, ProblemCode::bad_input);
    EXPECT_EQ(json.error().where, "file.json");
    EXPECT_NE(line.find(GetParam().position), std::string::npos) << line;
    EXPECT_NE(line.find(GetParam().part), std::string::npos) << line;
    EXPECT_EQ(line.find("json.exception"), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
}

INSTANTIATE_TEST_SUITE_P(Texts, BadJson,
    testing::Values(BadRow{"value", "{\n \"a\": x}", "line 2, column 7", "invalid literal"},
        BadRow{"comma", "[1,\n2\n3]", "line 3, column 1", "expected"},
        BadRow{"end", "{\"a\": [1", "line 1, column 9", "unexpected end of input"},
        BadRow{"trailing", "{} {}", "line 1, column 4", "expected end of input"},
        BadRow{"comment", "{} // no", "line 1, column 4", "invalid literal"},
        BadRow{"duplicate", "{\"a\": 1,\n \"b\": 2,\n \"a\": 3}", "line 3, column 4", "the key \"a\" appears twice"},
        BadRow{"nested_duplicate", "{\"a\": {\"b\": 1, \"b\": 1}}", "line 1, column", "the key \"b\" appears twice"},
        BadRow{"overflow", "[1e999]", "line 1, column", "number overflow"},
        BadRow{"nan", "[NaN]", "line 1, column 2", "invalid literal"},
        BadRow{"utf8", "[\"\xff\"]", "line 1, column 3", "ill-formed UTF-8"},
        BadRow{"surrogate", "[\"\\ud800\"]", "line 1, column", "surrogate"},
        BadRow{"control", "[\"a\nb\"]", "line 1, column 4", "control character"},
        BadRow{"nul", std::string("{}\0{", 4), "line 1, column 3", "NUL byte"},
        BadRow{"bom", "\xef\xbb", "line 1, column", "BOM"}, BadRow{"empty", "", "file.json", "is empty"},
        BadRow{"blank", " \n\t", "file.json", "is empty"}),
    [](const testing::TestParamInfo<BadRow>& info) { return std::string(info.param.name); });

TEST(ParseJson, SameKeyInDifferentObjectsIsFine)
{
    EXPECT_TRUE(parse_json(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 1}]})", "f"));
}

TEST(ParseJson, DepthIsLimited)
{
    const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
    EXPECT_TRUE(parse_json(nested(64), "f"));
    const auto deep = parse_json(nested(65), "f");
    ASSERT_FALSE(deep);
    EXPECT_NE(deep.error().line().find("column 65: nested deeper than 64 levels"), std::string::npos)
        << deep.error().line();
    EXPECT_FALSE(parse_json(std::string(10'000'000, '['), "f"));
}

// A quadratic search over keys would take minutes here.
TEST(ParseJson, ManyKeysTakeLinearTime)
{
    std::string text = "{";
    for (int i = 0; i < 300'000; ++i)
        text.append("\"k").append(std::to_string(i)).append("\":1,");
    text += "\"last\":1}";
    const auto start = std::chrono::steady_clock::now();
    const auto json = parse_json(text, "f");
    ASSERT_TRUE(json);
    EXPECT_EQ(json->size(), 300'001u);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

} // namespace
} // namespace fourfold
