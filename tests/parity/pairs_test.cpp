// SPDX-License-Identifier: GPL-3.0-or-later
// Every two techniques that planner and trainer let meet: real ranks under NCCL's rules, each equal to one rank. With a
// report of the jobs and of the pairs that are refused:
//   FOURFOLD_PAIRS_REPORT=resources/reports/technique-pairs.md build/release/tests/trainer_pairs_long_test
#include "tests/parity/compare.h"
#include "tests/parity/pair_settings.h"
#include "tests/parity/pairs.h"
#include "tests/parity/tiny_plans.h"

#include "core/base/json.h"
#include "core/plan/trainable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <utility>

namespace fourfold::testing {
namespace {

const TechniquePairs& pairs()
{
    static const TechniquePairs all = technique_pairs(8);
    return all;
}

// Refusals that say the same of one technique share a line.
std::vector<std::string> refusal_lines()
{
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < pairs().refused.size();) {
        const RefusedPair& first = pairs().refused[i];
        std::string others;
        for (; i < pairs().refused.size() && pairs().refused[i].first == first.first
             && pairs().refused[i].why == first.why;
             ++i)
            others += (others.empty() ? "" : ", ") + pairs().refused[i].second;
        lines.push_back("| " + first.first + " | " + others + " | " + first.why + " |\n");
    }
    return lines;
}

std::string row_of(const Case& job, bool passes)
{
    return "| " + job.name + " | " + job.mesh.front().substr(job.mesh.front().find('=') + 1) + " | "
        + (passes ? "yes" : "**no**") + " |\n";
}

void report(const std::string& text)
{
    const char* const file = std::getenv("FOURFOLD_PAIRS_REPORT");
    if (file == nullptr)
        return;
    static bool begun = false;
    std::ofstream out(file, begun ? std::ios::app : std::ios::trunc);
    ASSERT_TRUE(out) << "cannot write " << file;
    if (!std::exchange(begun, true)) {
        out << "# Techniques in pairs\n\n"
               "Written by `FOURFOLD_PAIRS_REPORT=resources/reports/technique-pairs.md "
               "build/release/tests/trainer_pairs_long_test`:\njobs of at most eight ranks in which every two "
               "techniques "
               "meet that planner and trainer let meet, and what they refuse.\nA name lists what the job has that a "
               "plan "
               "has not by itself; `tests/parity/pair_settings.cpp` says what each is. *Passes*: real\nranks over Gloo "
               "under NCCL's rules, four operations at once in one queue, whose losses, gradients and weights are "
               "those\nof "
               "one rank in fp64.\n\n## Refused together\n\n| technique | with | the first reason |\n| --- | --- | --- "
               "|\n";
        for (const std::string& line : refusal_lines())
            out << line;
        out << "\n## Jobs\n\n| techniques | ranks | passes |\n| --- | --- | --- |\n";
    }
    out << text << std::flush;
}

// By itself, and as the search for jobs says: no pair is left out.
TEST(Pairs, AreCoveredOrRefused)
{
    std::set<std::pair<std::string, std::string>> settled;
    for (const RefusedPair& pair : pairs().refused) {
        EXPECT_NE(pair.why, "") << pair.first << " " << pair.second;
        settled.emplace(pair.first, pair.second);
    }
    for (const Case& job : pairs().jobs) {
        std::vector<std::string> has; // a setting of each choice
        const std::string named = "_" + job.name + "_";
        for (const Choice& choice : choices()) {
            const auto found = std::find_if(choice.settings.begin() + 1, choice.settings.end(),
                [&](const PairSetting& setting) { return named.find("_" + setting.name + "_") != std::string::npos; });
            has.push_back(found == choice.settings.end() ? choice.settings.front().name : found->name);
        }
        for (std::size_t a = 0; a < has.size(); ++a)
            for (std::size_t b = a + 1; b < has.size(); ++b)
                settled.emplace(has[a], has[b]);
        // And the job runs.
        const ResolvedPlan plan = tiny_plan("tokens.bin", joined(job.model, job.mesh));
        EXPECT_TRUE(check(plan).empty() && trainer_limits(plan).empty()) << job.name;
        EXPECT_LE(plan.gpus, 8) << job.name;
    }
    const auto& all = choices();
    for (std::size_t a = 0; a < all.size(); ++a)
        for (std::size_t b = a + 1; b < all.size(); ++b)
            for (const PairSetting& first : all[a].settings)
                for (const PairSetting& second : all[b].settings)
                    EXPECT_TRUE(settled.contains({first.name, second.name})) << first.name << " " << second.name;
}

class TechniquesInPairs : public ::testing::TestWithParam<Case> { };

TEST_P(TechniquesInPairs, EqualOneRank)
{
    const std::string wrong = excess(compare_with_one_rank(
        of_steps(GetParam(), kSteps), {"--fp64"}, {"--fp64", "--nccl-rules", "4", "--one-queue"}));
    EXPECT_EQ(wrong, "");
    report(row_of(GetParam(), wrong.empty()));
}
INSTANTIATE_TEST_SUITE_P(Jobs, TechniquesInPairs, ::testing::ValuesIn(pairs().jobs),
    [](const auto& info) { return "job" + std::to_string(info.index) + "_" + info.param.name; });

} // namespace
} // namespace fourfold::testing
