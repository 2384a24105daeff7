// SPDX-License-Identifier: GPL-3.0-or-later
// A search that finds nothing names changes that lead to a layout that it would have taken.
#include "core/search/cures.h"

#include "tests/core/search/search_plans.h"

namespace fourfold {
namespace {

bool holds(const SearchRequest& request, const ResolvedPlan& plan)
{
    const Prediction prediction = predict(plan);
    PlanValues values{};
    fill_layout(values, plan);
    fill_figures(values, plan,
        {prediction.step_time_s.value_or(0), prediction.memory_gib.value_or(0),
            prediction.memory_device_gib.value_or(0), prediction.fit},
        request.budget);
    for (const Expression& each : request.constraints) {
        if (!each.holds(values))
            return false;
    }
    return prediction.feasible;
}

void expect_cures(const SearchRequest& request)
{
    const SearchResult result = search(request);
    ASSERT_TRUE(result.best.empty());
    const std::vector<Advice> changes = cures(request, result);
    ASSERT_FALSE(changes.empty());
    EXPECT_LE(changes.size(), 3U);
    for (const Advice& change : changes)
        EXPECT_TRUE(holds(request, change.edit.plan)) << change.edit.summary;
}

TEST(Cures, OfAMemoryThatIsTooSmall)
{
    SearchRequest request = small_request();
    request.plan = search_plan("llama-3.1-70b", "dgx-h100", 8, 64);
    request.space = default_space(request.plan, {8});
    request.space.sharding = {Sharding::none};
    expect_cures(request);
}

TEST(Cures, OfFarTooFewGpus)
{
    SearchRequest request = small_request();
    request.plan = search_plan("llama-3.1-405b", "dgx-h100", 8, 256);
    request.space = default_space(request.plan, {8});
    expect_cures(request);
    const std::vector<Advice> changes = cures(request, search(request));
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].gpus_change, changes[0].edit.plan.gpus - 8);
    EXPECT_GE(changes[0].edit.plan.gpus, 64) << "16 bytes a parameter are more than 32 GPUs hold";
}

TEST(Cures, OfAMemoryBudgetThatNoneKeeps)
{
    SearchRequest request = small_request();
    request.space.sharding = {Sharding::none};
    request.constraints = {constraint("tp <= 16"), constraint("memory_device_gib < 10")};
    expect_cures(request);
}

TEST(Cures, OfAStepThatNoneTakes)
{
    SearchRequest request = small_request();
    request.space.gpus = {8};
    request.objective = objective("step_time");
    const double best = search(request).best.front().figures.step_time_s;
    request.constraints = {constraint("step_time_s < " + std::to_string(0.7 * best))};
    expect_cures(request); // more GPUs
}

TEST(Cures, OfTooFewNodes)
{
    SearchRequest request = small_request();
    request.space.gpus = {16};
    request.constraints = {constraint("nodes <= 1")};
    expect_cures(request); // fewer GPUs
}

TEST(Cures, OfFarTooManyGpus)
{
    SearchRequest request = small_request();
    request.space.gpus = {64};
    request.constraints = {constraint("nodes <= 1")};
    const SearchResult result = search(request);
    expect_cures(request);
    for (const Advice& change : cures(request, result))
        EXPECT_LE(change.edit.plan.gpus, 8) << change.edit.summary;
}

TEST(Cures, OfConstraintsThatExcludeOneAnother)
{
    SearchRequest request = small_request();
    request.constraints = {constraint("tp == 8"), constraint("dp == 16")};
    expect_cures(request); // tp 8 and dp 16: 128 GPUs
}

TEST(Cures, StopWhenTold)
{
    SearchRequest request = small_request();
    request.plan = search_plan("llama-3.1-405b", "dgx-h100", 8, 256);
    request.space = default_space(request.plan, {8});
    std::stop_source stop;
    stop.request_stop();
    EXPECT_TRUE(cures(request, search(request), 3, stop.get_token()).empty());
}

TEST(Cures, NearestIsTheSameForAnyNumberOfThreads)
{
    SearchRequest request = small_request();
    request.constraints = {constraint("memory_device_gib < 1")};
    request.threads = 1;
    const SearchResult one = search(request);
    request.threads = 3;
    const SearchResult three = search(request);
    ASSERT_TRUE(one.constraints[0].nearest && three.constraints[0].nearest);
    EXPECT_EQ(*one.constraints[0].nearest, *three.constraints[0].nearest);
    EXPECT_EQ(one.constraints[0].nearest_miss, three.constraints[0].nearest_miss);
}

TEST(Cures, NoneWhereNothingHelpsOrNothingIsWrong)
{
    SearchRequest request = small_request();
    EXPECT_TRUE(cures(request, search(request)).empty());
    request.constraints = {constraint("memory_device_gib < 0")};
    EXPECT_TRUE(cures(request, search(request)).empty());
}

} // namespace
} // namespace fourfold
