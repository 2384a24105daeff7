// SPDX-License-Identifier: GPL-3.0-or-later
// The example as it ships: below the unigram entropy, and the same on one rank.
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <gtest/gtest.h>

namespace fourfold::testing {
namespace {

using namespace std::chrono_literals;

std::vector<Json> train(const ResolvedPlan& plan, const std::filesystem::path& folder)
{
    std::filesystem::create_directories(folder);
    Ranks ranks(plan.gpus, {trainer_program(), "--plan", write_plan(plan, folder), "--run-dir", folder}, folder);
    EXPECT_EQ(ranks.wait(500s), std::vector<int>(std::size_t(plan.gpus), 0)) << ranks.log(0);
    return ranks.events(0);
}

TEST(Corpus, WholeExampleGetsFarBelowTheUnigramEntropy)
{
    const TemporaryFolder folder;
    const auto begin = std::chrono::steady_clock::now();
    const auto events = train(example_plan(), folder.path());
    ASSERT_FALSE(events.empty());
    const Json& last = events.back();
    ASSERT_EQ(last["event"], "eval");
    const double loss = last["loss"].get<double>(), unigram = last["unigram_entropy"].get<double>();
    std::cout << "held-out loss " << loss << ", unigram entropy " << unigram << ", "
              << std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() << " s\n";
    EXPECT_LT(loss, 2.4);
    EXPECT_LT(loss, unigram - 0.5);
}

TEST(Corpus, FourRanksFollowTheCurveOfOne)
{
    const TemporaryFolder folder;
    const std::vector<std::string> fewer{"run.steps=40", "run.eval.every=0"};
    auto one = fewer;
    for (const char* assignment : {"gpus=1", "layout.tp=1", "layout.dp=1"})
        one.emplace_back(assignment);
    const auto many_events = train(example_plan(fewer), folder.path() / "many");
    const auto one_events = train(example_plan(one), folder.path() / "one");
    ASSERT_EQ(many_events.size(), one_events.size());
    int steps = 0;
    for (std::size_t i = 0; i < many_events.size(); ++i)
        if (many_events[i]["event"] == "step") {
            ++steps;
            EXPECT_NEAR(many_events[i]["loss"].get<double>(), one_events[i]["loss"].get<double>(), 1e-3)
                << "step " << steps;
        }
    EXPECT_EQ(steps, 40);
}

} // namespace
} // namespace fourfold::testing
