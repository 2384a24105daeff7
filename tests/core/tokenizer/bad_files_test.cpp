// SPDX-License-Identifier: GPL-3.0-or-later
// A tokenizer.json that asks for what is not known here is refused when it is read: one line names the file, the key
// and what it holds.
#include "core/tokenizer/tokenizer.h"
#include "core/tokenizer/tokenizer_json.h"

#include <gmock/gmock.h>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;

std::string said_of(const char* change)
{
    Json json = Json::parse(R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}})");
    json.merge_patch(Json::parse(change));
    const auto tokenizer = Tokenizer::of_json(json, "tokenizer.json");
    EXPECT_FALSE(tokenizer) << change;
    const std::string line = tokenizer ? "" : tokenizer.error().line();
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    return line;
}

TEST(Tokenizer, WhatItDoesNotKnowIsNamed)
{
    ASSERT_TRUE(Tokenizer::of_json(Json::parse(R"({"model": {"vocab": {"a": 0}, "merges": []}})"), "tokenizer.json"));
    EXPECT_THAT(said_of(R"({"model": {"type": "Morse"}})"),
        HasSubstr("tokenizer.json: model: type: models of type \"Morse\" are not known here"));
    EXPECT_THAT(said_of(R"({"model": null})"), HasSubstr("has no model"));
    EXPECT_THAT(
        said_of(R"({"model": {"vocab": {"a": "zero"}}})"), HasSubstr("expected a whole number as the id of \"a\""));
    EXPECT_THAT(said_of(R"({"model": {"vocab": [["a", 0], ["b", 1]], "unk_token": "<unk>"}})"),
        HasSubstr("model: vocab: expected an object of tokens and their ids"));
    EXPECT_THAT(said_of(R"({"normalizer": {"type": "Rot13"}})"), HasSubstr("normalizers of type \"Rot13\""));
    EXPECT_THAT(
        said_of(R"({"pre_tokenizer": {"type": "Syllables"}})"), HasSubstr("pre-tokenizers of type \"Syllables\""));
    EXPECT_THAT(said_of(R"({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(a"}, "behavior": "Isolated",
        "invert": false}})"),
        HasSubstr("the regular expression"));
    EXPECT_THAT(said_of(R"({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Shredded",
        "invert": false}})"),
        HasSubstr("unknown behavior \"Shredded\""));
    EXPECT_THAT(said_of(R"({"post_processor": {"type": "Verse"}})"), HasSubstr("post-processors of type \"Verse\""));
}

// What other libraries keep their tokens in.
TEST(TokenizerJson, FilesOfOtherKindsAreNamed)
{
    for (const char* text : {"IQ== 0\nIg== 1\n", "\n\x0e\n\x05<unk>"}) {
        const auto json = tokenizer_json(text, "tokens");
        ASSERT_FALSE(json) << text;
        EXPECT_THAT(json.error().line(), HasSubstr("tokens: is no JSON, expected Hugging Face's tokenizer.json"));
    }
    EXPECT_TRUE(tokenizer_json("{}", "tokens"));
    EXPECT_THAT(tokenizer_json("{\"model\": 1,}", "tokens").error().line(), HasSubstr("line 1, column"));
}

} // namespace
} // namespace fourfold::test
