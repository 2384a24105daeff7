// SPDX-License-Identifier: GPL-3.0-or-later
// What people answer to the three questions, and what it means.
#include "core/start/questions.h"

#include "core/model/hub_cache.h"
#include "tests/history/history_test_support.h"

#include <gmock/gmock.h>

#include <fstream>

#include <sys/stat.h>

namespace fourfold {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Questions, AnExtentIsTokensOrATime)
{
    struct Case {
        const char* text;
        double tokens, days;
    };
    for (const Case& each :
        {Case{"", 0, 0}, {"  ", 0, 0}, {"15T", 15e12, 0}, {"2e12", 2e12, 0}, {"2e12 tokens", 2e12, 0},
            {"300 B tokens", 300e9, 0}, {"1.5 trillion tokens", 1.5e12, 0}, {"100m", 100e6, 0}, {"30 days", 0, 30},
            {"1 day", 0, 1}, {"2 Weeks", 0, 14}, {"12 h", 0, 0.5}, {"36hours", 0, 1.5}, {"3 months", 0, 90}}) {
        const auto extent = parse_extent(each.text, "--train");
        ASSERT_TRUE(extent) << each.text << ": " << extent.error().line();
        EXPECT_DOUBLE_EQ(extent->tokens, each.tokens) << each.text;
        EXPECT_DOUBLE_EQ(extent->days, each.days) << each.text;
    }
    for (const char* text : {"much", "-3 days", "0", "0 days", "15 Q", "1e400", "nan", "inf", "T", "3 days of it",
             "1e19", "1e17 k", "15T\n2", "0.4", "1e-300"}) {
        const auto extent = parse_extent(text, "--train");
        ASSERT_FALSE(extent) << text;
        EXPECT_THAT(extent.error().line(), HasSubstr("--train: is no amount of training")) << text;
    }
}

TEST(Questions, WhatIsWrittenIsReadAlike)
{
    for (const TrainingExtent& extent : {TrainingExtent{15e12, 0}, TrainingExtent{3.5e9, 0}, TrainingExtent{0, 30},
             TrainingExtent{0, 1}, TrainingExtent{}}) {
        const auto again = parse_extent(extent_text(extent), "");
        ASSERT_TRUE(again) << extent_text(extent);
        EXPECT_DOUBLE_EQ(again->tokens, extent.tokens);
        EXPECT_DOUBLE_EQ(again->days, extent.days);
    }
}

TEST(Questions, AModelIsMeantByItsWords)
{
    const Presets presets;
    EXPECT_THAT(presets_meant("models", "llama-3.1-405b", presets), ElementsAre("llama-3.1-405b"));
    EXPECT_THAT(presets_meant("models", "Llama 405B", presets), ElementsAre("llama-3.1-405b"));
    EXPECT_THAT(presets_meant("models", "DeepSeek", presets), ElementsAre("deepseek-v3"));
    EXPECT_GT(presets_meant("models", "llama", presets).size(), 3U);
    EXPECT_THAT(presets_meant("models", "nothing of the kind", presets), IsEmpty());
    EXPECT_THAT(presets_meant("models", "", presets), IsEmpty());
    // Every preset is meant by its own name, whatever others are called.
    for (const std::string& id : presets.ids("models"))
        EXPECT_EQ(presets_meant("models", presets.model(id)->name, presets).size(), 1U) << id;
    for (const std::string& id : presets.ids("clusters"))
        EXPECT_EQ(presets_meant("clusters", presets.cluster(id)->name, presets).size(), 1U) << id;
}

TEST(Questions, WhatIsNotKnownOrMeansSeveralIsSaid)
{
    const Presets presets;
    const auto several = model_named("qwen3", presets);
    ASSERT_FALSE(several);
    EXPECT_THAT(several.error().line(), HasSubstr("qwen3-8b"));
    const auto misspelt = model_named("lama-3.1-405b", presets);
    ASSERT_FALSE(misspelt);
    EXPECT_THAT(misspelt.error().line(), HasSubstr("did you mean llama-3.1-405b"));
    const auto unknown = cluster_named("the one in the cellar", presets);
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().exit_status(), 2);
    EXPECT_THAT(unknown.error().line(), HasSubstr("fourfold presets clusters"));
    // A path that leads nowhere is no misspelt name.
    for (const char* path : {"/no/such/folder", "./mine", "../mine.json", "mine.json"})
        EXPECT_THAT(model_named(path, presets).error().line(), HasSubstr("No such file")) << path;
}

class Cache : public testing::Test {
protected:
    void put(const std::string& revision, const std::string& text)
    {
        const auto at = folder_ / "models--meta--tiny" / "snapshots" / revision;
        std::filesystem::create_directories(at);
        std::ofstream(at / "config.json") << text;
    }
    void point_main_to(const std::string& revision)
    {
        std::filesystem::create_directories(folder_ / "models--meta--tiny" / "refs");
        std::ofstream(folder_ / "models--meta--tiny" / "refs" / "main") << revision;
    }
    test::TemporaryFolder temporary_;
    std::filesystem::path folder_ = temporary_.path();
};

TEST_F(Cache, MainIsWhatItPointsTo)
{
    put("aaa", "{}");
    put("bbb", "{}");
    point_main_to("bbb\n");
    const auto found = cached_config("meta/tiny", folder_);
    ASSERT_TRUE(found) << found.error().line();
    EXPECT_EQ(found->parent_path().filename(), "bbb");
}

// So that a command knows what it must not write over.
TEST_F(Cache, AModelIsReadFromAFile)
{
    const Presets presets;
    EXPECT_TRUE(model_file("llama-3.1-8b", presets)->empty());
    EXPECT_TRUE(model_file("llama 405b", presets)->empty());
    put("aaa", "{}");
    const auto snapshot = folder_ / "models--meta--tiny/snapshots/aaa";
    EXPECT_EQ(*model_file(snapshot.string(), presets), snapshot / "config.json");
    EXPECT_EQ(*model_file((snapshot / "config.json").string(), presets), snapshot / "config.json");
    std::filesystem::remove(snapshot / "config.json");
    ASSERT_EQ(::mkfifo((snapshot / "config.json").c_str(), 0600), 0); // nobody writes into it
    const auto pipe = model_named(snapshot.string(), presets);
    ASSERT_FALSE(pipe);
    EXPECT_THAT(pipe.error().line(), HasSubstr("is a pipe, expected a file"));
}

TEST_F(Cache, WithoutMainTheOnlyRevisionIsTaken)
{
    put("aaa", "{}");
    ASSERT_TRUE(cached_config("meta/tiny", folder_));
    put("bbb", "{}");
    const auto two = cached_config("meta/tiny", folder_);
    ASSERT_FALSE(two);
    EXPECT_THAT(two.error().line(), HasSubstr("2 revisions"));
}

TEST_F(Cache, AMainThatLeadsOutOfTheCacheIsNotFollowed)
{
    put("aaa", "{}");
    put("bbb", "{}");
    std::ofstream(folder_ / "config.json") << "{}";
    point_main_to("../../..");
    EXPECT_FALSE(cached_config("meta/tiny", folder_));
}

TEST_F(Cache, WhatIsNotThereSaysWhatToGet)
{
    const auto missing = cached_config("meta/tiny", folder_);
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().line(), HasSubstr("huggingface.co/meta/tiny/resolve/main/config.json"));
    EXPECT_EQ(missing.error().exit_status(), 2);
}

TEST(HubIds, AreTwoPlainParts)
{
    for (const char* id : {"meta-llama/Llama-3.1-8B", "Qwen/Qwen3-8B", "a/b"})
        EXPECT_TRUE(is_hub_id(id)) << id;
    for (const char* text : {"llama", "../x", "a/../b", "a/b/c", "/etc/passwd", "a/", "./b", "a b/c", ""})
        EXPECT_FALSE(is_hub_id(text)) << text;
}

} // namespace
} // namespace fourfold
