// SPDX-License-Identifier: GPL-3.0-or-later
// A plan on fewer GPUs: the same training on the best layout that fits there and that the trainer runs.
#include "core/search/refit.h"

#include "core/plan/trainable.h"
#include "tests/core/search/search_plans.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace fourfold {
namespace {

ResolvedPlan runnable(const std::string& model, const std::string& cluster, int gpus, int global_batch)
{
    ResolvedPlan plan = search_plan(model, cluster, gpus, global_batch, "fourfold");
    plan.run.steps = 10;
    plan.run.data.push_back({"corpus.bin", 1, "uint16", 0, 1});
    return plan;
}

// 2 layers, 4 heads, sequences of 64 tokens.
ResolvedPlan tiny(int gpus, int global_batch)
{
    const Json document = Json::parse(R"({ "cluster": "dgx-h100", "stack": "fourfold", "gpus": )" + std::to_string(gpus)
        + R"(, "model": { "model_type": "llama", "hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 2,
               "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 256, "rms_norm_eps": 1e-5,
               "max_position_embeddings": 128, "tie_word_embeddings": false },
             "training": { "seq_len": 64, "micro_batch": 1, "global_batch": )"
        + std::to_string(global_batch)
        + R"( }, "run": { "steps": 5, "data": [ { "path": "corpus.txt", "weight": 1 } ] } })");
    const auto plan = plan_from_json(document, "refit test");
    if (!plan)
        throw std::runtime_error(plan.error().line());
    auto resolved = resolve(*plan, Presets());
    if (!resolved)
        throw std::runtime_error(resolved.error().line());
    return *std::move(resolved);
}

void expect_same_training(const ResolvedPlan& before, const ResolvedPlan& after)
{
    EXPECT_TRUE(check(after).empty());
    EXPECT_TRUE(trainer_limits(after).empty());
    EXPECT_TRUE(predict(after).feasible);
    EXPECT_EQ(after.gpus, after.layout.gpus());
    EXPECT_EQ(after.training.micro_batches * after.training.micro_batch * after.layout.dp, after.training.global_batch);
    // All that a layout does not say is the same.
    Json a = to_json(before, PresetStyle::inlined), b = to_json(after, PresetStyle::inlined);
    for (Json* document : {&a, &b}) {
        document->erase("gpus");
        document->erase("layout");
        for (const char* key : {"micro_batch", "micro_batches", "schedule", "sharding", "recompute"})
            (*document)["training"].erase(key);
    }
    EXPECT_EQ(a, b);
    EXPECT_EQ(before.layout.order, after.layout.order);
    EXPECT_NE(plan_hash(before), plan_hash(after));
}

// No layout of the usual axes on these numbers of GPUs takes a shorter step by more than what makes a tie, or what a
// marked risk of not fitting takes off.
TEST(Refit, TakesTheFastestLayoutOfTheNumbersThatAreLeft)
{
    const ResolvedPlan plan = runnable("llama-3.1-8b", "dgx-h100", 24, 48);
    const auto found = refit({plan, {{8}, {16}}});
    ASSERT_TRUE(found) << found.error().line();
    expect_same_training(plan, *found);
    EXPECT_EQ(found->gpus, 16);

    SearchRequest all;
    all.plan = plan;
    all.space = default_space(plan, {8, 16});
    all.objective = objective("step_time");
    all.expected = true;
    const SearchResult result = search(all);
    ASSERT_FALSE(result.best.empty());
    const Prediction chosen = predict(*found), best = predict(plan_of(result.best.front(), all));
    ASSERT_TRUE(chosen.step_time_s && best.step_time_s);
    EXPECT_LT(*chosen.step_time_s, 1.05 * *best.step_time_s);
}

TEST(Refit, OfTiesTheOneThatChangesLeast)
{
    const ResolvedPlan plan = tiny(4, 8);
    const auto same = refit({plan, {{4}}});
    ASSERT_TRUE(same) << same.error().line();
    const auto again = refit({*same, {{4}}});
    ASSERT_TRUE(again) << again.error().line();
    EXPECT_EQ(plan_hash(*again), plan_hash(*same)) << "what is the best already is not changed";
}

TEST(Refit, SmallerNumbersWhereTheLargerOnesHaveNoLayout)
{
    const ResolvedPlan plan = tiny(8, 8);
    // 7 divides neither heads nor tokens nor layers nor the batch.
    const auto found = refit({plan, {{7}, {4}}});
    ASSERT_TRUE(found) << found.error().line();
    EXPECT_EQ(found->gpus, 4);
    expect_same_training(plan, *found);
    // Also beyond those that are searched together.
    std::vector<RefitPlace> places{{2}};
    for (int times = 1; times <= 20; ++times)
        places.push_back({7 * times});
    const auto few = refit({plan, places});
    ASSERT_TRUE(few) << few.error().line();
    EXPECT_EQ(few->gpus, 2);
}

TEST(Refit, SaysWhichRuleStandsInTheWay)
{
    const auto none = refit({tiny(8, 8), {{7}}});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, ProblemCode::failed);
    EXPECT_NE(none.error().message.find("no layout on 7 GPUs with its global batch of 8: "), std::string::npos)
        << none.error().message;
    EXPECT_NE(none.error().message.find("dp"), std::string::npos) << none.error().message;
    const auto nowhere = refit({tiny(8, 8), {}});
    ASSERT_FALSE(nowhere);
    EXPECT_NE(nowhere.error().message.find("no GPUs"), std::string::npos) << nowhere.error().message;
}

TEST(Refit, SaysHowMuchMemoryIsMissing)
{
    const ResolvedPlan plan = runnable("llama-3.1-70b", "dgx-h100", 64, 64);
    const auto none = refit({plan, {{8}, {4}}});
    ASSERT_FALSE(none);
    const std::string& said = none.error().message;
    EXPECT_NE(said.find("no layout of the plan fits on 8 GPUs or fewer: tp"), std::string::npos) << said;
    double needed = 0, there = 0, missing = 0;
    const char* numbers = std::strstr(said.c_str(), " needs ");
    ASSERT_NE(numbers, nullptr) << said;
    ASSERT_EQ(std::sscanf(numbers, " needs %lf GiB per rank, but the GPU has %lf GiB: %lf GiB are missing", &needed,
                  &there, &missing),
        3)
        << said;
    EXPECT_NEAR(there, plan.cluster.gpu.memory_gib, 0.01);
    EXPECT_NEAR(needed - there, missing, 0.02);
    EXPECT_GT(missing, 0);
    // The layout that it names is the one that needs the least.
    SearchRequest all;
    all.plan = plan;
    all.space = default_space(plan, {4, 8});
    all.objective = objective("step_time");
    const SearchResult result = search(all);
    ASSERT_TRUE(result.smallest_unfit);
    EXPECT_NEAR(needed, result.smallest_unfit->figures.memory_device_gib, 0.01);
}

// CPU ranks share the memory of their host.
TEST(Refit, TheHostsMemoryCounts)
{
    ResolvedPlan plan = tiny(4, 8);
    const auto wide = refit({plan, {{4, 64}, {2, 64}}});
    ASSERT_TRUE(wide) << wide.error().line();
    const auto none = refit({plan, {{4, 1e-4}, {2, 1e-4}}});
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().message.find("but the host has 0.00 GiB"), std::string::npos) << none.error().message;
    const auto narrow = refit({plan, {{4, 1e-4}, {2, 64}}});
    ASSERT_TRUE(narrow) << narrow.error().line();
    EXPECT_EQ(narrow->gpus, 2);
}

// The search knows what fits, not what the trainer runs: it has no dense attention under context parallelism, and no
// schedule file can be of another number of stages.
TEST(Refit, OnlyWhatTheTrainerRuns)
{
    ResolvedPlan plan = runnable("llama-3.1-8b", "dgx-h100", 16, 16);
    plan.training.attention = AttentionKernel::fused_softmax;
    plan.training.seq_len = 4096;
    const auto found = refit({plan, {{8}}});
    ASSERT_TRUE(found) << found.error().line();
    EXPECT_EQ(found->layout.cp, 1);
    expect_same_training(plan, *found);

    ResolvedPlan file = tiny(4, 8);
    file.training.schedule = Schedule::csv;
    file.training.schedule_csv = "own.csv";
    const auto other = refit({file, {{2}}});
    ASSERT_TRUE(other) << other.error().line();
    EXPECT_NE(other->training.schedule, Schedule::csv);
    EXPECT_TRUE(other->training.schedule_csv.empty());
    EXPECT_TRUE(trainer_limits(*other).empty());
}

TEST(Refit, EndsWhenItIsStopped)
{
    std::stop_source stop;
    stop.request_stop();
    const auto none = refit({tiny(8, 8), {{4}}}, stop.get_token());
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, ProblemCode::cancelled);
}

TEST(Refit, LayoutsInWords)
{
    ResolvedPlan plan = tiny(8, 8);
    plan.layout.tp = 2;
    plan.layout.dp = 4;
    EXPECT_EQ(layout_words(plan), "tp2 cp1 pp1 dp4 mb1");
    plan.layout.ep = 4;
    plan.layout.virtual_stages = 2;
    EXPECT_EQ(layout_words(plan), "tp2 cp1 pp1 dp4 ep4 vs2 mb1");
}

} // namespace
} // namespace fourfold
