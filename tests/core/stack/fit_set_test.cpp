// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stack/stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace fourfold {
namespace {

using testing::HasSubstr;

Json set_with(const char* constant)
{
    return Json::array({{{"name", "s"}, {"gpus", {"g"}}, {"overall_width", 0.2},
        {"shared", {{"gemm_efficiency", Json::parse(constant)}}}}});
}

TEST(FitSets, ReadAndWriteTheSame)
{
    const Json json = Json::parse(R"([{"name": "s", "gpus": ["a", "b"], "overall_width": 0.2,
        "shared": {"gradient_overlap": {"prior": 0.5, "width": 0.3, "bounds": [0, 1], "linear": true, "stays": true}},
        "per_gpu": {"gemm_efficiency": {"prior": 0.8, "width": 0.1, "bounds": [0.1, 1], "overall": 1}},
        "memory": {"fragmentation": {"prior": 1.1, "width": 0.05, "bounds": [1, 1.3]}}}])");
    const auto sets = fit_sets_from_json(json, "s.json: fit");
    ASSERT_TRUE(sets) << sets.error().line();
    EXPECT_EQ(sets->front().time_constants(), 3u);
    EXPECT_EQ(to_json(*sets)[0]["per_gpu"], json[0]["per_gpu"]);
    EXPECT_EQ(to_json(*sets)[0]["shared"], json[0]["shared"]);
    EXPECT_EQ(fit_set_for(*sets, "b")->name, "s");
    EXPECT_EQ(fit_set_for(*sets, "unknown")->name, "s");
    EXPECT_EQ(fit_set_for({}, "b"), nullptr);
}

TEST(FitSets, NameWhatIsWrong)
{
    const std::pair<const char*, const char*> wrong[] = {
        {R"({"width": 0.1, "bounds": [0.1, 1]})", "prior"},
        {R"({"prior": 0.5, "bounds": [0.1, 1]})", "width"},
        {R"({"prior": 0.5, "width": 0, "bounds": [0.1, 1]})", "width"},
        {R"({"prior": 0.5, "width": 0.1})", "bounds"},
        {R"({"prior": 0.5, "width": 0.1, "bounds": [1, 0.1]})", "bounds"},
        {R"({"prior": 5, "width": 0.1, "bounds": [0.1, 1]})", "prior"},
        {R"({"prior": 0.5, "width": 0.1, "bounds": [0, 1]})", "bounds"},
    };
    for (const auto& [constant, key] : wrong) {
        const auto sets = fit_sets_from_json(set_with(constant), "s.json: fit");
        ASSERT_FALSE(sets) << constant;
        EXPECT_THAT(sets.error().line(), HasSubstr("s.json: fit[0]"));
        EXPECT_THAT(sets.error().line(), HasSubstr("gemm_efficiency: " + std::string(key)));
    }
    Json unknown = set_with(R"({"prior": 0.5, "width": 0.1, "bounds": [0.1, 1]})");
    unknown[0]["shared"] = {{"gemm_eficiency", unknown[0]["shared"]["gemm_efficiency"]}};
    const auto sets = fit_sets_from_json(unknown, "s.json: fit");
    ASSERT_FALSE(sets);
    EXPECT_THAT(sets.error().line(), HasSubstr("did you mean gemm_efficiency?"));
}

// Few constants with a meaning: a model of many constants would only remember its rows.
TEST(FitSets, TheShippedStacksFitFewConstants)
{
    int sets = 0;
    for (const auto& entry : std::filesystem::directory_iterator(FOURFOLD_SOURCE_DIR "/presets/stacks")) {
        const auto json = read_json_file(entry.path());
        ASSERT_TRUE(json);
        const auto stack = stack_from_json(*json, entry.path().string());
        ASSERT_TRUE(stack) << stack.error().line();
        EXPECT_FALSE(stack->fit.empty()) << entry.path() << " cannot be calibrated";
        for (const FitSet& set : stack->fit) {
            ++sets;
            EXPECT_LE(set.time_constants(), set.name == "4d" ? 20u : 10u) << entry.path() << " " << set.name;
            EXPECT_LE(set.memory.size(), 10u) << entry.path() << " " << set.name;
        }
    }
    EXPECT_GE(sets, 6);
}

} // namespace
} // namespace fourfold
