// SPDX-License-Identifier: GPL-3.0-or-later
// Advice does what it says: its fields, set in the plan's document, give the plan that was predicted.
#include "core/search/advice.h"

#include "tests/core/search/search_plans.h"

#include <gmock/gmock.h>

#include <set>

namespace fourfold {
namespace {

Plan document_of(const Json& json)
{
    const auto plan = plan_from_json(json, "advice test");
    if (!plan)
        throw std::runtime_error(plan.error().line());
    return *plan;
}

ResolvedPlan resolved(const Plan& plan)
{
    static const Presets presets;
    const auto result = resolve(plan, presets);
    if (!result)
        throw std::runtime_error(result.error().line());
    return *result;
}

Json too_large()
{
    return {{"model", "llama-3.1-8b"}, {"cluster", "dgx-h100"}, {"gpus", 8}, {"stack", "generic"},
        {"layout", {{"tp", 2}}},
        {"training", {{"seq_len", 8192}, {"global_batch", 64}, {"micro_batch", 8}, {"sharding", "none"}}}};
}

void expect_predicted(const Advice& advice, const Prediction& now)
{
    const Prediction alone = predict(advice.edit.plan);
    ASSERT_TRUE(alone.step_time_s) << advice.edit.summary;
    EXPECT_EQ(advice.step_time_s, *alone.step_time_s);
    EXPECT_EQ(advice.memory_device_gib, *alone.memory_device_gib);
    EXPECT_EQ(advice.fit, alone.fit);
    EXPECT_DOUBLE_EQ(advice.speed_change, *alone.tps_per_gpu / *now.tps_per_gpu - 1);
    EXPECT_DOUBLE_EQ(advice.memory_change_gib, *alone.memory_device_gib - *now.memory_device_gib);
}

TEST(Edits, FieldsGiveThePlanThatWasMeant)
{
    Json pipeline = too_large();
    pipeline["layout"] = {{"tp", 2}, {"pp", 2}};
    pipeline["training"]["micro_batch"] = 2;
    Json stages = pipeline;
    stages["layout"]["stage_layers"] = {15, 17}; // a person's own split
    Json experts = too_large();
    experts["model"] = "mixtral-8x7b";
    for (const Json& json : {too_large(), pipeline, stages, experts}) {
        const Plan document = document_of(json);
        const ResolvedPlan plan = resolved(document);
        const std::vector<PlanEdit> edits = single_edits(plan);
        EXPECT_GT(edits.size(), 20u);
        std::set<std::string> summaries;
        for (const PlanEdit& edit : edits) {
            EXPECT_TRUE(summaries.insert(edit.summary).second) << edit.summary;
            EXPECT_TRUE(check(edit.plan).empty()) << edit.summary;
            Plan changed = document;
            for (const PlanEdit::Field& field : edit.fields) {
                auto next = with_field(changed, field.path, field.value.dump());
                ASSERT_TRUE(next) << edit.summary << ": " << next.error().line();
                changed = *next;
            }
            EXPECT_EQ(layout_hash(resolved(changed)), layout_hash(edit.plan)) << edit.summary;
            EXPECT_NE(layout_hash(edit.plan), layout_hash(plan)) << edit.summary;
        }
    }
}

TEST(Edits, CombinedEditsAreBothChanges)
{
    const ResolvedPlan plan = resolved(document_of(too_large()));
    const std::vector<PlanEdit> edits = single_edits(plan);
    const auto find = [&](const std::string& summary) {
        const auto found
            = std::find_if(edits.begin(), edits.end(), [&](const PlanEdit& edit) { return edit.summary == summary; });
        if (found == edits.end())
            throw std::runtime_error("no edit " + summary);
        return *found;
    };
    const PlanEdit both = combined_edits(plan, find("micro_batch 8 -> 2"), find("sharding none -> optimizer"));
    EXPECT_EQ(both.plan.training.micro_batch, 2);
    EXPECT_EQ(both.plan.training.micro_batches, 8); // 64 / (2 x dp 4)
    EXPECT_EQ(both.plan.training.sharding, Sharding::optimizer);
    EXPECT_EQ(both.summary, "micro_batch 8 -> 2, sharding none -> optimizer");
}

// Of stack fourfold FlashAttention-2 and cuDNN's kernel were measured on an H100 and an H200.
TEST(Edits, AttentionByKernelsThatWereMeasuredThere)
{
    const auto offered = [](const std::string& cluster, int cp, const std::string& kernel) {
        Json json = too_large();
        json["cluster"] = cluster;
        json["stack"] = "fourfold";
        json["layout"] = {{"cp", cp}};
        json["training"]["attention"] = kernel;
        std::string kernels;
        for (const PlanEdit& edit : single_edits(resolved(document_of(json))))
            if (to_text(edit.plan.training.attention) != kernel)
                kernels += to_text(edit.plan.training.attention) + " ";
        return kernels;
    };
    EXPECT_EQ(offered("dgx-h200", 1, "flash2"), "cudnn ");
    EXPECT_EQ(offered("dgx-h200", 1, "cudnn"), "flash2 ");
    EXPECT_EQ(offered("dgx-h200", 2, "flash2"), "") << "the trainer's ring has no cuDNN";
    EXPECT_EQ(offered("dgx-h100", 1, "flash2"), "cudnn ");
    EXPECT_EQ(offered("dgx-a100", 1, "flash2"), "") << "nobody measured it there";
}

TEST(Advice, WhatMakesItFit)
{
    const ResolvedPlan plan = resolved(document_of(too_large()));
    const AdviceReport report = advise({plan, 100, 2});
    ASSERT_EQ(report.now.fit, Fit::no);
    ASSERT_FALSE(report.to_fit.empty());
    EXPECT_FALSE(report.pairs);
    EditClass last = EditClass::execution;
    for (const Advice& advice : report.to_fit) {
        EXPECT_NE(advice.fit, Fit::no) << advice.edit.summary;
        EXPECT_GE(advice.edit.edit_class, last);
        last = advice.edit.edit_class;
        expect_predicted(advice, report.now);
    }
    // By hand: the fastest of all changes that keep GPUs and numerics.
    double fastest = 0;
    for (const PlanEdit& edit : single_edits(plan)) {
        const Prediction prediction = predict(edit.plan);
        if (edit.edit_class == EditClass::execution && prediction.feasible)
            fastest = std::max(fastest, *prediction.tps_per_gpu);
    }
    ASSERT_GT(fastest, 0);
    EXPECT_EQ(report.to_fit.front().tps_per_gpu, fastest);
}

TEST(Advice, PairsWhereNoSingleChangeIsEnough)
{
    Json json = too_large();
    json["model"] = "llama-3.1-70b";
    json["gpus"] = 32;
    json["layout"]["tp"] = 8;
    json["training"]["global_batch"] = 256;
    json["training"]["micro_batch"] = 16; // whole states and large activations: each alone is too much
    const AdviceReport report = advise({resolved(document_of(json)), 3, 2});
    ASSERT_EQ(report.now.fit, Fit::no);
    ASSERT_FALSE(report.to_fit.empty());
    ASSERT_TRUE(report.pairs) << "a single change was enough: " << report.to_fit.front().edit.summary;
    EXPECT_LE(report.to_fit.size(), 3u);
    for (const Advice& advice : report.to_fit) {
        expect_predicted(advice, report.now);
        EXPECT_NE(advice.fit, Fit::no);
    }
}

TEST(Advice, WhatMakesItFaster)
{
    Json json = too_large();
    json["training"] = {
        {"seq_len", 8192}, {"global_batch", 64}, {"micro_batch", 1}, {"sharding", "optimizer"}, {"recompute", "full"}};
    const AdviceReport report = advise({resolved(document_of(json)), 8, 2});
    ASSERT_NE(report.now.fit, Fit::no);
    EXPECT_TRUE(report.to_fit.empty());
    ASSERT_FALSE(report.faster.empty());
    bool without_recomputation = false;
    for (const Advice& advice : report.faster) {
        expect_predicted(advice, report.now);
        EXPECT_NE(advice.fit, Fit::no);
        EXPECT_GE(advice.job_speed_change, kWorthwhile);
        without_recomputation |= advice.edit.kind == "recompute" && advice.speed_change > 0.1;
    }
    EXPECT_TRUE(without_recomputation); // full recomputation repeats a third of the work
    const Json written = to_json(report);
    EXPECT_EQ(written["faster"].size(), report.faster.size());
    EXPECT_EQ(written["faster"][0]["change"], report.faster.front().edit.summary);
}

TEST(Advice, SaysNothingOfABrokenPlan)
{
    Json json = too_large();
    json["layout"]["tp"] = 3;
    const AdviceReport report = advise({resolved(document_of(json))});
    EXPECT_TRUE(report.to_fit.empty());
    EXPECT_TRUE(report.faster.empty());
    EXPECT_FALSE(report.now.reasons.empty());
}

TEST(Advice, DoesNotDependOnThreads)
{
    const ResolvedPlan plan = resolved(document_of(too_large()));
    EXPECT_EQ(to_json(advise({plan, 8, 1})), to_json(advise({plan, 8, 5})));
}

} // namespace
} // namespace fourfold
