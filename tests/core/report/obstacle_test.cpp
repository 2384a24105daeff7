// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of a search that found nothing.
#include "core/report/views/obstacle.h"

#include "core/report/table/table.h"
#include "tests/core/search/search_plans.h"

#include <gmock/gmock.h>

namespace fourfold {
namespace {

using testing::HasSubstr;

TEST(Obstacle, NamesTheConstraintOfSeveralThatNoneMeets)
{
    SearchRequest request = small_request();
    request.constraints = {constraint("tp <= 8"), constraint("dp > 100")};
    const Problem problem = obstacle(request, search(request));
    EXPECT_THAT(problem.message, HasSubstr("\"dp > 100\" holds for none of"));
    EXPECT_THAT(problem.hint, HasSubstr("misses by 84")); // 16 GPUs at most
}

TEST(Obstacle, NamesTheMemoryThatIsMissing)
{
    SearchRequest request = small_request();
    request.plan = search_plan("llama-3.1-405b", "dgx-h100", 8, 256);
    request.space = default_space(request.plan, {8});
    const SearchResult result = search(request);
    const Problem problem = obstacle(request, result);
    EXPECT_THAT(problem.message, HasSubstr("GiB"));
    ASSERT_TRUE(result.smallest_unfit);
    EXPECT_THAT(
        problem.hint, HasSubstr("needs " + shown_number(result.smallest_unfit->figures.memory_device_gib, 1) + " GiB"));
}

TEST(Obstacle, CountsWhatEachConstraintLetsThroughWhereTheyExcludeOneAnother)
{
    SearchRequest request = small_request();
    request.constraints = {constraint("tp == 8"), constraint("dp == 16")};
    const SearchResult result = search(request);
    ASSERT_TRUE(result.best.empty());
    const Problem problem = obstacle(request, result);
    EXPECT_THAT(problem.message, HasSubstr("no layout meets all constraints together"));
    ASSERT_EQ(result.constraints.size(), 2U);
    for (const ConstraintOutcome& each : result.constraints) {
        EXPECT_GT(each.held, 0);
        EXPECT_THAT(
            problem.hint, HasSubstr("\"" + each.text + "\" holds for " + shown_number(double(each.held), 0) + " of "));
    }
}

TEST(Obstacle, NamesAxesWithoutACombination)
{
    SearchRequest request = small_request();
    request.space.gpus = {7};
    request.space.tp = {2};
    request.space.cp = {1};
    request.space.pp = {1};
    const SearchResult result = search(request);
    ASSERT_EQ(result.counts.enumerated, 0);
    EXPECT_THAT(obstacle(request, result).message, HasSubstr("no combination of the axes makes a layout of 7 GPUs"));
}

} // namespace
} // namespace fourfold
