// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/prediction.h"
#include "core/search/cures.h"
#include "core/search/enumerate.h"
#include "core/search/refused.h"
#include "core/search/search_cost.h"
#include "tests/core/search/search_plans.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace fourfold {
namespace {

// Every layout of a space by plain loops over its axes, predicted one by one.
std::vector<Prediction> brute_force(const SearchRequest& request)
{
    std::vector<Prediction> predictions;
    std::set<std::string> seen;
    const SearchSpace& space = request.space;
    for (const int gpus : space.gpus) {
        for (const int tp : space.tp) {
            for (const int cp : space.cp) {
                for (const int pp : space.pp) {
                    for (const int virtual_stages : space.virtual_stages) {
                        for (const int micro_batch : space.micro_batch) {
                            for (const Sharding sharding : space.sharding) {
                                for (const Recompute recompute : space.recompute) {
                                    for (const Schedule schedule : space.schedule) {
                                        if (gpus % (tp * cp * pp) != 0)
                                            continue;
                                        Candidate candidate;
                                        candidate.tp = tp;
                                        candidate.cp = cp;
                                        candidate.pp = pp;
                                        candidate.dp = gpus / (tp * cp * pp);
                                        candidate.virtual_stages = std::int16_t(virtual_stages);
                                        candidate.micro_batch = std::int16_t(micro_batch);
                                        candidate.sharding = sharding;
                                        candidate.recompute = recompute;
                                        candidate.schedule = schedule;
                                        ResolvedPlan plan = request.plan;
                                        place(candidate, space, request.plan, plan);
                                        Prediction prediction = predict(plan);
                                        if (prediction.feasible)
                                            predictions.push_back(std::move(prediction));
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    return predictions;
}

TEST(Search, FindsWhatBruteForceFinds)
{
    SearchRequest request = small_request();
    request.top = 100'000;
    const SearchResult result = search(request);
    const std::vector<Prediction> all = brute_force(request);
    ASSERT_GT(all.size(), 50U);
    // The loops above meet some layouts more than once (a pipeline of one stage has one schedule); the best are the
    // same.
    double best = 0;
    for (const Prediction& prediction : all)
        best = std::max(best, *prediction.tps_per_gpu);
    ASSERT_FALSE(result.best.empty());
    double found_best = 0; // the first may be a tie with less memory
    for (const FoundLayout& found : result.best)
        found_best = std::max(found_best, found.objective);
    EXPECT_NEAR(found_best, best, 1e-9 * best);
    std::set<long long> by_loops, by_search;
    for (const Prediction& prediction : all)
        by_loops.insert(std::llround(*prediction.tps_per_gpu * 1e6));
    for (const FoundLayout& found : result.best)
        by_search.insert(std::llround(found.objective * 1e6));
    EXPECT_EQ(by_search, by_loops);
}

TEST(Search, JudgesEachPartOfACondition)
{
    SearchRequest request = small_request();
    request.require(constraint("tp <= 4 and (memory_gib < 60 and dp > 1)"));
    request.require(constraint("pp == 1 or cp == 1"));
    const SearchResult result = search(request);
    std::vector<std::string> texts;
    for (const ConstraintOutcome& outcome : result.constraints)
        texts.push_back(outcome.text);
    EXPECT_THAT(texts, testing::ElementsAre("tp <= 4", "memory_gib < 60", "dp > 1", "pp == 1 or cp == 1"));
}

TEST(Search, RefusesFiguresThatAreNotKnown)
{
    SearchRequest request = small_request();
    EXPECT_TRUE(check_known(request));
    request.objective = objective("cost");
    request.budget.price_per_gpu_hour = 2;
    EXPECT_TRUE(check_known(request));
    request.budget.price_per_gpu_hour = TrainingBudget::kUnknown;
    EXPECT_THAT(check_known(request).error().line(),
        testing::StartsWith("objective: \"cost\" is not known without the price of a GPU hour"));
    request.objective = objective("tps_per_gpu");
    request.require(constraint("tp > 1 and goodput > 0.9"));
    request.budget.failures_per_gpu_hour = 2e-5; // without the storage
    EXPECT_THAT(check_known(request, "--").error().line(),
        testing::StartsWith("--constraint: \"goodput\" is not known without a failure rate"));
    request.budget.storage_gb_s = 10;
    EXPECT_TRUE(check_known(request));
}

TEST(Search, CountsEveryLayoutOnce)
{
    SearchRequest request = small_request();
    request.constraints = {constraint("tp <= 4"), constraint("memory_gib < 60")};
    const SearchResult result = search(request);
    const SearchCounts& counts = result.counts;
    EXPECT_GT(counts.evaluated, 0);
    EXPECT_GT(counts.constrained, 0);
    EXPECT_GT(counts.broken_rules, 0);
    EXPECT_EQ(counts.enumerated,
        counts.evaluated + counts.bounded + counts.constrained + counts.does_not_fit + counts.broken_rules);
    std::int64_t rejected = 0;
    for (const Rejection& rejection : result.rejections)
        rejected += rejection.count;
    EXPECT_EQ(rejected, counts.enumerated - counts.evaluated - counts.bounded);
    std::int64_t enumerated = 0;
    for (const MeshUnit& unit : mesh_units(request.space))
        for_each_candidate(request.space, request.plan, unit, [&](const Candidate&) { ++enumerated; });
    EXPECT_EQ(counts.enumerated, enumerated);
}

// Megatron-LM gives every stage as many layers: 3 stages cannot share the 80 of Llama 70B so.
TEST(Search, WhatTheSoftwareStopsAtIsHiddenAndCounted)
{
    SearchRequest request = small_request();
    request.plan = search_plan("llama-3.1-70b", "dgx-h100", 48, 48, "megatron-lm");
    request.space = default_space(request.plan, {48});
    request.space.tp = {4, 8};
    request.space.cp = {1};
    request.space.pp = {2, 3, 4};
    request.space.virtual_stages = {1};
    request.top = 1000;
    const SearchResult all = search(request);
    request.hides_refused = true;
    const SearchResult runs = search(request);
    EXPECT_EQ(all.counts.refused, 0);
    EXPECT_GT(runs.counts.refused, 0);
    EXPECT_EQ(runs.counts.enumerated, all.counts.enumerated);
    EXPECT_EQ(runs.counts.does_not_fit, all.counts.does_not_fit);
    EXPECT_EQ(
        runs.counts.refused + runs.counts.evaluated + runs.counts.bounded, all.counts.evaluated + all.counts.bounded);
    for (const FoundLayout& found : runs.best)
        EXPECT_NE(found.candidate.pp, 3);
    const auto why = std::ranges::find(runs.rejections, std::string(kStackStops), &Rejection::code);
    ASSERT_NE(why, runs.rejections.end());
    EXPECT_EQ(why->count, runs.counts.refused);
    EXPECT_THAT(why->example, testing::HasSubstr("stops where"));
    EXPECT_FALSE(runs.best.empty());
    request.space.pp = {3};
    const SearchResult none = search(request);
    EXPECT_TRUE(none.best.empty());
    for (const Advice& change : cures(request, none))
        EXPECT_FALSE(StackRefusals(request.plan).refuses(change.edit.plan)) << change.edit.summary;
}

TEST(Search, DoesNotDependOnTheNumberOfThreads)
{
    SearchRequest request = small_request();
    request.constraints = {constraint("dp >= 2")};
    request.threads = 1;
    const SearchResult one = search(request);
    for (const int threads : {2, 3, 8}) {
        request.threads = threads;
        const SearchResult many = search(request);
        EXPECT_EQ(many.counts.enumerated, one.counts.enumerated);
        EXPECT_EQ(many.counts.broken_rules, one.counts.broken_rules);
        EXPECT_EQ(many.counts.constrained, one.counts.constrained);
        EXPECT_EQ(many.counts.does_not_fit, one.counts.does_not_fit);
        EXPECT_EQ(many.counts.evaluated + many.counts.bounded, one.counts.evaluated + one.counts.bounded);
        ASSERT_EQ(many.best.size(), one.best.size());
        for (std::size_t i = 0; i < one.best.size(); ++i) {
            EXPECT_EQ(many.best[i].candidate, one.best[i].candidate) << i;
            EXPECT_EQ(many.best[i].objective, one.best[i].objective) << i;
        }
        ASSERT_EQ(many.pareto.size(), one.pareto.size());
        for (std::size_t i = 0; i < one.pareto.size(); ++i)
            EXPECT_EQ(many.pareto[i].candidate, one.pareto[i].candidate) << i;
        ASSERT_EQ(many.rejections.size(), one.rejections.size());
        for (std::size_t i = 0; i < one.rejections.size(); ++i)
            EXPECT_EQ(many.rejections[i].example, one.rejections[i].example) << i;
    }
}

TEST(Search, BoundsChangeNothingButHowManyAreTimed)
{
    SearchRequest request = small_request();
    request.space.pp = {2, 4, 8};
    request.space.virtual_stages = {1, 2, 4};
    request.top = 5;
    const SearchResult bounded = search(request);
    request.every = true;
    const SearchResult every = search(request);
    EXPECT_GT(bounded.counts.bounded, 0);
    EXPECT_EQ(every.counts.bounded, 0);
    EXPECT_EQ(every.counts.evaluated, bounded.counts.evaluated + bounded.counts.bounded);
    ASSERT_EQ(bounded.best.size(), every.best.size());
    for (std::size_t i = 0; i < every.best.size(); ++i)
        EXPECT_EQ(bounded.best[i].candidate, every.best[i].candidate) << i;
    ASSERT_EQ(bounded.pareto.size(), every.pareto.size());
    for (std::size_t i = 0; i < every.pareto.size(); ++i)
        EXPECT_EQ(bounded.pareto[i].candidate, every.pareto[i].candidate) << i;
}

// What a constraint on figures rules out by a bound of the step time is told as if it had been timed.
TEST(Search, ConstraintsAreToldAlikeWhateverIsTimed)
{
    SearchRequest request = small_request();
    request.space.pp = {2, 4, 8};
    request.space.virtual_stages = {1, 2, 4};
    const std::vector<std::vector<std::string>> cases{{"memory_gib < 30"}, {"tps_per_gpu > 1e7"}, {"step_time_s < 0"},
        {"mfu > 0.2", "memory_gib < 60"}, {"tps_per_gpu > 1e7", "tokens_per_second > 1e9"},
        {"days < 100 or memory_gib < 20"}, {"not (tps_per_gpu < 5000)", "tp * memory_gib < 100"}, {"goodput > 0.5"},
        {"cost < 1"}, {"tps_per_gpu % 7 < 3"}};
    for (const std::vector<std::string>& texts : cases) {
        SCOPED_TRACE(texts.front());
        request.constraints.clear();
        for (const std::string& text : texts)
            request.constraints.push_back(constraint(text));
        request.every = true;
        const SearchResult every = search(request);
        request.every = false;
        for (const int threads : {1, 3}) {
            request.threads = threads;
            const SearchResult spared = search(request);
            EXPECT_EQ(spared.counts, every.counts);
            ASSERT_EQ(spared.best.size(), every.best.size());
            for (std::size_t i = 0; i < every.best.size(); ++i)
                EXPECT_EQ(spared.best[i].candidate, every.best[i].candidate) << i;
            for (std::size_t i = 0; i < every.constraints.size(); ++i) {
                EXPECT_EQ(spared.constraints[i].judged, every.constraints[i].judged);
                EXPECT_EQ(spared.constraints[i].held, every.constraints[i].held);
                EXPECT_EQ(spared.constraints[i].nearest_miss, every.constraints[i].nearest_miss);
                EXPECT_EQ(spared.constraints[i].nearest, every.constraints[i].nearest);
            }
            EXPECT_EQ(spared.rejections.size(), every.rejections.size());
        }
    }
}

TEST(Search, CostIsToldBeforeAndWhileItRuns)
{
    const SearchRequest request = small_request();
    constexpr std::chrono::milliseconds kAsLongAsItTakes = std::chrono::hours(1);
    const SearchCost cost = search_cost(request, kAsLongAsItTakes);
    EXPECT_EQ(cost.layouts, double(search(request).counts.enumerated)) << "small enough to be searched whole";
    EXPECT_GT(cost.seconds, 0);
    SearchRequest large = request;
    large.space.gpus = gpu_counts(request.plan.cluster, 4096);
    const double layouts = double(search(large).counts.enumerated);
    EXPECT_NEAR(search_cost(large, kAsLongAsItTakes).layouts, layouts, 0.5 * layouts);

    EXPECT_EQ(seconds_left(0.25, 30), 90);
    EXPECT_EQ(seconds_left(1, 30), 0);
    EXPECT_FALSE(seconds_left(0, 30));
    EXPECT_FALSE(seconds_left(0.5, 0.01)) << "too early to tell";
}

TEST(Search, ResultsMeetTheConstraintsAndAreSorted)
{
    SearchRequest request = small_request();
    request.constraints = {constraint("dp % 4 == 0"), constraint("nodes <= 1"), constraint("memory_gib < 70")};
    const SearchResult result = search(request);
    ASSERT_FALSE(result.best.empty());
    EXPECT_LE(result.best.size(), 7U);
    for (std::size_t i = 0; i < result.best.size(); ++i) {
        const FoundLayout& found = result.best[i];
        EXPECT_EQ(found.candidate.dp % 4, 0);
        EXPECT_LE(found.candidate.gpus(), 8);
        EXPECT_LT(found.figures.memory_gib, 70);
        const Prediction prediction = predict(plan_of(found, request));
        EXPECT_NEAR(*prediction.tps_per_gpu, found.objective, 1e-9 * found.objective);
        EXPECT_GE(found.place, 1);
        if (i > 0 && result.best[i - 1].place != found.place) {
            EXPECT_EQ(found.place, int(i) + 1);
            EXPECT_GE(result.best[i - 1].weighed, found.weighed);
        } else if (i > 0) {
            EXPECT_LE(result.best[i - 1].figures.memory_device_gib, found.figures.memory_device_gib);
        }
    }
}

TEST(Search, SaysWhichConstraintEmptiesTheSpaceAndByHowMuch)
{
    SearchRequest request = small_request();
    request.constraints = {constraint("tp <= 8"), constraint("memory_gib < 1")};
    const SearchResult result = search(request);
    EXPECT_TRUE(result.best.empty());
    ASSERT_EQ(result.constraints.size(), 2U);
    EXPECT_GT(result.constraints[0].held, 0);
    EXPECT_EQ(result.constraints[1].held, 0);
    EXPECT_GT(result.constraints[1].judged, 0);
    EXPECT_GT(result.constraints[1].nearest_miss, 1);
}

TEST(Search, KeepsTheSmallestOfThoseThatDoNotFit)
{
    SearchRequest request = small_request();
    request.plan = search_plan("llama-3.1-405b", "dgx-h100", 8, 64);
    request.space = default_space(request.plan, {8});
    request.space.micro_batch = {1};
    const SearchResult result = search(request);
    EXPECT_TRUE(result.best.empty());
    ASSERT_TRUE(result.smallest_unfit);
    EXPECT_GT(result.smallest_unfit->figures.memory_device_gib, request.plan.cluster.gpu.memory_gib);
}

// No answer is worse than the question.
TEST(Search, TriesWhatThePlanHasItself)
{
    SearchRequest request = small_request();
    request.plan = search_plan("mixtral-8x7b", "dgx-h100", 16, 96);
    Layout& layout = request.plan.layout;
    layout.pp = 2;
    layout.virtual_stages = 2;
    layout.dp = 8 / layout.tp / layout.cp;
    request.plan.training.schedule = Schedule::dualpipe_v;
    request.plan.training.sharding = Sharding::gradients;
    request.plan.training.micro_batch = 3;
    request.space = default_space(request.plan, {16});
    request.space.pp = {2};
    request.require(constraint("schedule == dualpipe-v and sharding == gradients and micro_batch == 3"));
    const SearchResult result = search(request);
    ASSERT_FALSE(result.best.empty());
    EXPECT_EQ(result.best.front().candidate.schedule, Schedule::dualpipe_v);
    request.plan.training.schedule = Schedule::csv; // of one shape: not searched
    EXPECT_EQ(default_space(request.plan, {16}).schedule.size(), 2u);
}

TEST(Search, AStopKeepsWhatWasFound)
{
    SearchRequest request = small_request();
    request.threads = 2;
    std::stop_source source;
    std::size_t streamed = 0;
    const SearchObserver observer{[&](std::span<const FoundLayout> found) {
                                      streamed += found.size();
                                      source.request_stop();
                                  },
        nullptr};
    const SearchResult result = search(request, observer, source.get_token());
    EXPECT_TRUE(result.cancelled);
    EXPECT_FALSE(result.best.empty());
    EXPECT_GE(std::size_t(result.counts.evaluated), streamed);
    EXPECT_LT(result.counts.enumerated, search(request).counts.enumerated);
}

TEST(Search, StreamsEveryLayoutThatItFinds)
{
    const SearchRequest request = small_request();
    std::size_t streamed = 0;
    double share = 0;
    std::int64_t counted = 0;
    const SearchObserver observer{[&](std::span<const FoundLayout> found) { streamed += found.size(); },
        [&](double now, const SearchCounts& counts) {
            EXPECT_GT(now, share);
            EXPECT_GE(counts.enumerated, counted);
            share = now;
            counted = counts.enumerated;
        }};
    const SearchResult result = search(request, observer);
    EXPECT_EQ(streamed, std::size_t(result.counts.evaluated));
    EXPECT_EQ(counted, result.counts.enumerated);
    EXPECT_DOUBLE_EQ(share, 1);
}

TEST(Search, RoundsTheBatchWithinItsTolerance)
{
    SearchRequest request = small_request();
    request.plan = search_plan("llama-3.1-8b", "dgx-h100", 24, 2048);
    request.space = default_space(request.plan, {24});
    request.space.tp = {8};
    request.space.cp = {1};
    request.space.pp = {1};
    request.space.micro_batch = {1};
    request.space.recompute = {Recompute::full};
    EXPECT_EQ(search(request).counts.evaluated, 0) << "2048 is no multiple of 3";
    request.space.batch_tolerance = 0.01;
    const SearchResult result = search(request);
    ASSERT_FALSE(result.best.empty());
    EXPECT_EQ(result.best.front().candidate.global_batch, 2049);
}

} // namespace
} // namespace fourfold
