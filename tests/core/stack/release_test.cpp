// SPDX-License-Identifier: GPL-3.0-or-later
// Releases of a software: how they are named, which is the nearest, what one has of its own.
#include "core/stack/stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fourfold {
namespace {

using testing::HasSubstr;

TEST(Releases, AreNamedBehindTheStack)
{
    EXPECT_EQ(written_stack("megatron-core@v25.11").id, "megatron-core");
    EXPECT_EQ(written_stack("megatron-core@v25.11").release, "25.11");
    EXPECT_EQ(written_stack("megatron-core").id, "megatron-core");
    EXPECT_EQ(written_stack("megatron-core").release, "");
    EXPECT_EQ(release_name("v0.9"), "0.9");
    EXPECT_EQ(release_name("v"), "v");
    EXPECT_EQ(release_name("vision-1"), "vision-1");
    EXPECT_TRUE(is_release_name("core_r0.9.0-rc1"));
    for (const char* text : {"", "a b", "25/11", "25@11", "\xc3\xa9"})
        EXPECT_FALSE(is_release_name(text)) << text;
}

TEST(Releases, FollowTheirNumbers)
{
    EXPECT_TRUE(is_earlier_release("25.09", "25.11"));
    EXPECT_TRUE(is_earlier_release("v25.11", "26.02"));
    EXPECT_TRUE(is_earlier_release("26.02", "26.02.01"));
    EXPECT_TRUE(is_earlier_release("0.9", "0.10"));
    EXPECT_FALSE(is_earlier_release("26.02.01", "26.02"));
}

std::string nearest(const std::vector<Release>& releases, const std::string& name)
{
    const Release* found = nearest_release(releases, name);
    return found == nullptr ? "none" : found->name;
}

TEST(Releases, TheNearestStandsInForOneThatIsNotKnown)
{
    const std::vector<Release> dated{{"25.02"}, {"25.09"}, {"25.11"}, {"26.02"}};
    EXPECT_EQ(nearest(dated, "25.11"), "25.11");
    EXPECT_EQ(nearest(dated, "25.08"), "25.09") << "one month, not six";
    EXPECT_EQ(nearest(dated, "26.01"), "26.02") << "one month over the turn of the year, not two";
    EXPECT_EQ(nearest(dated, "25.10"), "25.09") << "as near as the next: what it had is in it";
    EXPECT_EQ(nearest(dated, "24.07"), "25.02");
    EXPECT_EQ(nearest(dated, "2027-01"), "26.02");
    EXPECT_EQ(nearest(dated, "main"), "26.02") << "no number: the newest";
    const std::vector<Release> versions{{"0.8"}, {"0.9"}, {"0.12"}};
    EXPECT_EQ(nearest(versions, "0.11"), "0.9") << "versions have no calendar: the one before";
    EXPECT_EQ(nearest(versions, "0.7"), "0.8");
    EXPECT_EQ(nearest({}, "0.7"), "none");
}

const Json kStack = Json::parse(R"({
    "id": "s", "name": "Some stack", "constants": {"gemm_efficiency": 0.8},
    "gpu_constants": {"a": {"gemm_efficiency": 0.9, "tp_exposed": 0.5}},
    "measured": {"a": {"runs": 9, "kernels": ["flash2"]}},
    "releases": [
        {"name": "2.0", "gpus": ["a", "b"], "gpu_constants": {"a": {"gemm_efficiency": 0.7, "date": "2026-11-28"},
            "b": {"gemm_efficiency": 0.6}}, "measured": {"a": {"runs": 9, "kernels": ["flash2", "flash3"]}}},
        {"name": "1.0", "date": "2024-10", "gpus": ["a"]},
        {"name": "3.0"}]})");

Stack stack_of(const char* release)
{
    Json json = kStack;
    if (*release != 0)
        json["release"] = release;
    return *stack_from_json(json, "s.json");
}

TEST(Releases, OneThatWasFittedHasConstantsOfItsOwn)
{
    const Stack plain = stack_of("");
    ASSERT_EQ(plain.releases.size(), 3U);
    EXPECT_EQ(plain.releases.front().name, "1.0") << "from the oldest to the newest";
    EXPECT_EQ(plain.releases.front().date, "2024-10");
    EXPECT_EQ(plain.constant("gemm_efficiency", "a", 0), 0.9);
    EXPECT_FALSE(plain.calibrated_for("b"));

    const Stack fitted = stack_of("v2.0");
    EXPECT_EQ(fitted.release, "2.0");
    EXPECT_EQ(fitted.constant("gemm_efficiency", "a", 0), 0.7);
    EXPECT_EQ(fitted.constant("tp_exposed", "a", 0), 0.5) << "the stack's, where the release has none";
    EXPECT_TRUE(fitted.calibrated_for("b"));
    EXPECT_TRUE(fitted.measured_with("a", AttentionKernel::flash3));
    EXPECT_FALSE(plain.measured_with("a", AttentionKernel::flash3));
    EXPECT_EQ(fitted.written(), "s@2.0");
    EXPECT_EQ(fitted.full_name(), "Some stack, release 2.0");
    EXPECT_EQ(plain.written(), "s");

    EXPECT_EQ(stack_of("1.0").constant("gemm_efficiency", "a", 0), 0.9);
    EXPECT_EQ(stack_of("2.5").constant("gemm_efficiency", "a", 0), 0.7) << "the nearest";
}

TEST(Releases, WhatIsNotKnownIsSaid)
{
    EXPECT_EQ(stack_of("").unknown_release(), "");
    EXPECT_EQ(stack_of("2.0").unknown_release(), "");
    EXPECT_EQ(stack_of("2.5").unknown_release(),
        "release 2.5 of stack s is not known: predicted as 2.0, the nearest that is");
    Stack none = stack_of("");
    none.releases.clear();
    none.use_release("1");
    EXPECT_THAT(none.unknown_release(), HasSubstr("tells nothing of releases"));

    EXPECT_TRUE(stack_of("").release_measured("b"));
    EXPECT_TRUE(stack_of("1.0").release_measured("a"));
    EXPECT_FALSE(stack_of("1.0").release_measured("b"));
    EXPECT_TRUE(stack_of("3.0").release_measured("b")) << "on which GPUs is not told";
    EXPECT_FALSE(stack_of("2.5").release_measured("a"));
}

TEST(Releases, AreWrittenAsTheyAreRead)
{
    const Json written = to_json(stack_of("2.0"));
    const auto again = stack_from_json(written, "again");
    ASSERT_TRUE(again) << again.error().line();
    EXPECT_EQ(to_json(*again), written);
    EXPECT_EQ(written["release"], "2.0");
    EXPECT_EQ(written["releases"].size(), 3U);
    EXPECT_FALSE(to_json(*stack_from_json(Json{{"id", "s"}}, "s")).contains("releases"));
}

TEST(Releases, BadOnesAreNamed)
{
    const auto problem = [](const char* key, const char* value) {
        Json json{{"id", "s"}};
        json[key] = Json::parse(value);
        const auto stack = stack_from_json(json, "s.json");
        return stack ? std::string("none") : stack.error().line();
    };
    EXPECT_THAT(problem("releases", "{}"), HasSubstr("s.json: releases: expected a list of releases, found {}"));
    EXPECT_THAT(problem("releases", R"([{"date": "2025"}])"), HasSubstr("releases[0]: name"));
    EXPECT_THAT(problem("releases", R"([{"name": "2 5"}])"), HasSubstr("expected a release's number"));
    EXPECT_THAT(problem("releases", R"([{"name": "1", "gpus": "a"}])"), HasSubstr("expected a list of GPU ids"));
    EXPECT_THAT(problem("releases", R"([{"name": "1"}, {"name": "1"}])"), HasSubstr("listed twice"));
    EXPECT_THAT(problem("release", R"("a b")"), HasSubstr("release"));
}

} // namespace
} // namespace fourfold
