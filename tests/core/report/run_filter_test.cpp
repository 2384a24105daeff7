// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/views/run_filter.h"

#include "core/expression/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fourfold {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<RunSummary> sample()
{
    RunSummary small;
    small.id = "small";
    small.name = "Tiny Llama";
    small.model = "llama with 4 layers";
    small.state = RunState::ok;
    small.stack = "fourfold";
    small.target = "local";
    small.created = "2026-01-02T03:04:05.000Z";
    small.layout = "tp2 cp1 pp1 dp2 mb16";
    small.gpus = 4;
    small.tps_error = 0.08;
    small.tags = {"paper"};
    RunSummary large = small;
    large.id = "large";
    large.name = "405B";
    large.model = "Llama 3.1 405B";
    large.state = RunState::fail;
    large.stack = "torchtitan@2024.12";
    large.layout = "tp8 cp2 pp16 dp4 mb1";
    large.gpus = 1024;
    large.tps_error = -0.2;
    large.measured_memory_gib = 80;
    large.predicted_memory_gib = 60;
    large.most_off = MostOff{"waiting", 1, 3};
    large.tags = {};
    large.note = "Slow NIC";
    RunSummary bare; // nothing is known of it
    bare.id = "bare";
    bare.state = RunState::draft;
    return {small, large, bare};
}

std::vector<std::string> ids(const std::string& filter)
{
    const auto runs = filtered_runs(sample(), filter, "--filter");
    std::vector<std::string> out;
    if (!runs)
        return {runs.error().line()};
    for (const RunSummary& run : *runs)
        out.push_back(run.id);
    return out;
}

TEST(RunFilter, ExpressionsCompareFigures)
{
    EXPECT_THAT(ids("gpus >= 8"), ElementsAre("large"));
    EXPECT_THAT(ids("abs(error) > 0.05 and tps_error < 0"), ElementsAre("large"));
    EXPECT_THAT(ids("error < 1"), ElementsAre("small", "large")); // what is not known does not match
    EXPECT_THAT(ids("tp * pp == 128 and micro_batch = 1"), ElementsAre("large"));
    EXPECT_THAT(ids("memory_error < -0.2"), ElementsAre("large"));
    EXPECT_THAT(ids("most_off_s > 1.5"), ElementsAre("large"));
}

TEST(RunFilter, ExpressionsCompareNames)
{
    EXPECT_THAT(ids("state in (ok, fail)"), ElementsAre("small", "large"));
    EXPECT_THAT(ids("model == \"Llama 3.1 405B\""), ElementsAre("large"));
    EXPECT_THAT(ids("model == \"llama 3.1 405b\""), ElementsAre("large")); // upper and lower case alike
    EXPECT_THAT(ids("stack != fourfold"), ElementsAre("large"));
    EXPECT_THAT(ids("stack == torchtitan"), ElementsAre("large")); // of whatever release
    EXPECT_THAT(ids("release == \"2024.12\""), ElementsAre("large"));
}

TEST(RunFilter, WordsAreAllInTheRun)
{
    EXPECT_THAT(ids(""), ElementsAre("small", "large", "bare"));
    EXPECT_THAT(ids("PAPER tiny"), ElementsAre("small"));
    EXPECT_THAT(ids("nic 405b"), ElementsAre("large"));
    EXPECT_THAT(ids("2026-01"), ElementsAre("small", "large"));
    EXPECT_THAT(ids("waiting"), ElementsAre("large"));
    EXPECT_THAT(ids("1024"), ElementsAre("large"));
    EXPECT_THAT(ids("paper nic"), IsEmpty());
}

TEST(RunFilter, WhatIsNoExpressionSaysWhere)
{
    EXPECT_THAT(ids("errr > 0.1"), ElementsAre(HasSubstr("did you mean")));
    EXPECT_THAT(ids("gpus >"), ElementsAre(HasSubstr("--filter")));
    EXPECT_THAT(ids("model > 3"), ElementsAre(HasSubstr("--filter")));
}

TEST(RunFilter, NamesOfSeveralWordsAreCompletedInQuotes)
{
    const std::vector<RunSummary> runs = sample();
    const RunFields fields(runs);
    for (const std::string typed : {"model == lla", "model == \"Lla"}) {
        const Completions found = complete_expression(typed, typed.size(), fields.set());
        EXPECT_THAT(found.words, ElementsAre("\"Llama 3.1 405B\"", "\"llama with 4 layers\"")) << typed;
        EXPECT_EQ(found.begin, std::string("model == ").size());
    }
    const std::string whole = "model == \"Llama 3.1 405B\"";
    EXPECT_EQ(complete_expression(whole, whole.size(), fields.set()).begin, whole.size());
}

TEST(RunFilter, AHistoryWithoutRunsHasItsFields)
{
    const RunFields fields(std::span<const RunSummary>{});
    EXPECT_TRUE(fields.set().find("error"));
    EXPECT_TRUE(fields.set().find("state"));
}

} // namespace
} // namespace fourfold
