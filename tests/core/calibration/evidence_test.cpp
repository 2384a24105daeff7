// SPDX-License-Identifier: GPL-3.0-or-later
// "measured", "calibrated", "extrapolated", and where no interval is given.
#include "core/calibration/neighbours.h"
#include "core/calibration/published_layouts.h"
#include "core/predict/interval.h"
#include "tests/core/calibration/presets_of_tests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

namespace fourfold::test {
namespace {

using testing::HasSubstr;

ResolvedPlan plan_of(int gpus, const Json& layout, const char* cluster = "tsubame4", const char* stack = "megatron-lm",
    const Json& training = {{"seq_len", 8192}, {"global_batch", 1024}})
{
    const Json json{{"model", "llama-3.1-8b"}, {"cluster", cluster}, {"gpus", gpus}, {"stack", stack},
        {"layout", layout}, {"training", training}};
    return *resolve(*plan_from_json(json, "test"), presets());
}

MeasuredLayout measured(int tp, int cp, int pp, int dp, int micro_batch = 1)
{
    return {"megatron-lm", "h 4096 L 32", "h100-94gb-sxm", 8192, tp, cp, pp, dp, micro_batch, std::nullopt,
        {{"sharding", "optimizer"}, {"recompute", "none"}, {"precision", "bf16"}, {"schedule", "1f1b"}}};
}

TEST(MeasuredLayouts, OneFactorOfTwoIsNear)
{
    const ResolvedPlan plan = plan_of(16, {{"tp", 2}, {"pp", 2}, {"dp", 4}});
    EXPECT_TRUE(is_near(measured(2, 1, 2, 4), plan));
    EXPECT_TRUE(is_near(measured(2, 1, 2, 8), plan)) << "twice the GPUs";
    EXPECT_TRUE(is_near(measured(2, 1, 2, 4, 2), plan)) << "twice the micro-batch";
    EXPECT_TRUE(is_near(measured(1, 1, 4, 4), plan)) << "a factor moved";
    EXPECT_FALSE(is_near(measured(2, 1, 2, 16), plan));
    EXPECT_FALSE(is_near(measured(8, 1, 1, 2), plan)) << "two factors moved";
    EXPECT_FALSE(is_near(measured(2, 1, 2, 8, 2), plan)) << "two things at once";
    EXPECT_FALSE(is_near(measured(2, 1, 2, 3), plan)) << "no power of two apart";
    MeasuredLayout other = measured(2, 1, 2, 4);
    other.seq_len = 16384;
    EXPECT_FALSE(is_near(other, plan));
    other.seq_len = 0;
    other.model = plan.model.name;
    other.hardware = plan.cluster.name;
    EXPECT_TRUE(is_near(other, plan)) << "the history knows names";
    other.stack = "torchtitan";
    EXPECT_FALSE(is_near(other, plan));
}

TEST(MeasuredLayouts, AReleaseIsMeasuredByItselfAlone)
{
    const auto plan = [](const char* stack) {
        return plan_of(16, {{"tp", 2}, {"pp", 2}, {"dp", 4}}, "tsubame4", stack);
    };
    MeasuredLayout layout = measured(2, 1, 2, 4);
    EXPECT_TRUE(is_near(layout, plan("megatron-lm"))) << "no release is meant";
    EXPECT_FALSE(is_near(layout, plan("megatron-lm@2024-10"))) << "the row does not say its own";
    layout.release = "2024-10";
    EXPECT_TRUE(is_near(layout, plan("megatron-lm@2024-10")));
    EXPECT_FALSE(is_near(layout, plan("megatron-lm@2024-11")));
    EXPECT_EQ(measured_layout(plan("megatron-lm@2024-10")).release, "2024-10");
}

TEST(MeasuredLayouts, OtherWorkIsNotNear)
{
    const ResolvedPlan plan = plan_of(16, {{"tp", 2}, {"pp", 2}, {"dp", 4}});
    const auto with = [&](const char* field, const char* value) {
        Json training{{"seq_len", 8192}, {"global_batch", 1024}};
        training[field] = value;
        return plan_of(16, {{"tp", 2}, {"pp", 2}, {"dp", 4}}, "tsubame4", "megatron-lm", training);
    };
    ASSERT_TRUE(is_near(measured(2, 1, 2, 4), plan));
    EXPECT_FALSE(is_near(measured(2, 1, 2, 4), with("recompute", "full")));
    EXPECT_FALSE(is_near(measured(2, 1, 2, 4), with("sharding", "parameters")));
    EXPECT_FALSE(is_near(measured(2, 1, 2, 4), with("schedule", "zb-h1")));
    EXPECT_FALSE(is_near(measured(2, 1, 2, 4), with("precision", "fp16")));
    EXPECT_FALSE(is_near(measured(2, 1, 2, 4), with("attention", "unfused"))) << "not stated: the stack's default";
    EXPECT_FALSE(is_near(measured(2, 1, 2, 4), with("offload", "optimizer"))) << "nor by the stack: a plan's default";
    EXPECT_TRUE(is_near(measured(2, 1, 2, 4), with("cp_method", "all-gather"))) << "nothing to do at CP 1";
    EXPECT_FALSE(is_near(
        measured(2, 1, 2, 4), plan_of(16, {{"tp", 2}, {"pp", 2}, {"dp", 4}, {"order", {"dp", "tp", "cp", "pp"}}})));
}

TEST(MeasuredLayouts, TheShippedTablesVouchForTheirOwnLayouts)
{
    const auto json = read_json_file(std::filesystem::path(FOURFOLD_SOURCE_DIR) / "presets/published/sources.json");
    const auto layouts = published_layouts(*TableSources::from_json(*json, "sources.json"), presets());
    EXPECT_GT(layouts.size(), 250U);
    Prediction near = predict(plan_of(16, {{"tp", 2}, {"dp", 8}}));
    EXPECT_EQ(near.evidence, Evidence::calibrated);
    weigh_measurements(near, layouts);
    EXPECT_EQ(near.evidence, Evidence::measured);
    Prediction far = predict(
        plan_of(32, {{"tp", 2}, {"dp", 16}}, "tsubame4", "megatron-lm", {{"seq_len", 2048}, {"global_batch", 1024}}));
    weigh_measurements(far, layouts);
    EXPECT_EQ(far.evidence, Evidence::calibrated) << "another sequence length";
    Prediction unknown = predict(plan_of(16, {{"tp", 2}, {"dp", 8}}, "dgx-b200"));
    weigh_measurements(unknown, layouts);
    EXPECT_EQ(unknown.evidence, Evidence::extrapolated);
}

std::string all_warnings(const Prediction& prediction)
{
    std::string text;
    for (const std::string& warning : prediction.warnings)
        text += warning + "\n";
    return text;
}

TEST(Regimes, WithoutMeasurementsTheWordsStandWithoutABand)
{
    const auto expect_none = [](const ResolvedPlan& plan, const char* words) {
        const Prediction prediction = predict(plan);
        ASSERT_TRUE(prediction.step_time_s);
        EXPECT_FALSE(prediction.interval) << words;
        EXPECT_EQ(prediction.evidence, Evidence::extrapolated);
        EXPECT_THAT(all_warnings(prediction), HasSubstr(words));
        EXPECT_THAT(all_warnings(prediction), HasSubstr("so there is no interval"));
    };
    expect_none(plan_of(32, {{"tp", 4}, {"cp", 4}, {"dp", 2}}, "dgx-h100"), "context parallelism crosses nodes");
    expect_none(plan_of(32, {{"tp", 4}, {"cp", 2}, {"pp", 4}, {"dp", 1}}, "dgx-h100"),
        "context and pipeline parallelism together beyond a node");
    expect_none(plan_of(512, {{"tp", 4}, {"pp", 4}, {"dp", 32}}, "dgx-h100"), "pipeline parallelism on 512 GPUs");
    expect_none(plan_of(16, {{"tp", 2}, {"dp", 8}}, "tsubame4", "megatron-lm",
                    {{"seq_len", 8192}, {"global_batch", 1024}, {"offload", "activations"}}),
        "offload to host memory");
    expect_none(
        plan_of(512, {{"tp", 4}, {"pp", 4}, {"dp", 32}}, "dgx-h100", "nanotron"), "pipeline parallelism on 512 GPUs");
}

TEST(Regimes, MeasuredOnesKeepTheirBand)
{
    ResolvedPlan plan = plan_of(32, {{"tp", 4}, {"cp", 2}, {"pp", 1}, {"dp", 4}});
    plan.stack.measured["h100-94gb-sxm"] = {
        .runs = 100, .gpus = 256, .pipeline_gpus = 256, .regimes = {Regime::cp_across_nodes, Regime::near_full_memory}};
    const Prediction known = predict(plan);
    EXPECT_TRUE(known.interval);
    EXPECT_EQ(known.evidence, Evidence::calibrated);
    plan.stack.measured["h100-94gb-sxm"].regimes.clear();
    const Prediction unknown = predict(plan);
    EXPECT_FALSE(unknown.interval);
    EXPECT_EQ(unknown.evidence, Evidence::extrapolated);
    plan.stack.measured["h100-94gb-sxm"] = {.runs = 100, .gpus = 4, .regimes = {Regime::cp_across_nodes}};
    EXPECT_EQ(predict(plan).evidence, Evidence::extrapolated) << "eight times the largest measured job";
    EXPECT_THAT(all_warnings(predict(plan)), HasSubstr("the largest measured job"));
}

TEST(Regimes, LinksAndModelsFarFromMeasuredOnesAreExtrapolated)
{
    const ResolvedPlan plan = plan_of(16, {{"tp", 2}, {"dp", 8}});
    const auto layouts = std::vector{measured_layout(plan)};
    ASSERT_EQ(predict(plan).evidence, Evidence::calibrated);
    const auto expect_far = [&](const ResolvedPlan& other, const char* words) {
        Prediction prediction = predict(other);
        weigh_measurements(prediction, layouts);
        EXPECT_EQ(prediction.evidence, Evidence::extrapolated) << words;
        EXPECT_THAT(all_warnings(prediction), HasSubstr(words));
        ASSERT_TRUE(prediction.interval);
        EXPECT_GT(std::log(prediction.interval->step_time_s.high / *prediction.step_time_s), time_half_width(plan));
    };
    ResolvedPlan slow = plan;
    slow.cluster.inter_node.bandwidth_gb_s /= 10;
    expect_far(slow, "links of 2.5 GB/s between nodes: those measured with stack megatron-lm");
    ResolvedPlan no_pairs = plan; // 450 GB/s to each neighbour instead of 150
    no_pairs.cluster.intra_node.topology = IntraTopology::nvswitch;
    expect_far(no_pairs, "links of 450 GB/s within a node");
    const Json large{{"model", "llama-3.1-70b"}, {"cluster", "tsubame4"}, {"gpus", 16}, {"stack", "megatron-lm"},
        {"layout", {{"tp", 4}, {"dp", 4}}}, {"training", {{"seq_len", 8192}, {"global_batch", 1024}}}};
    expect_far(*resolve(*plan_from_json(large, "test"), presets()),
        "a model of 70.6 billion parameters: those measured with stack megatron-lm");

    ResolvedPlan other = plan; // not far, but not what was measured either
    other.cluster.inter_node.bandwidth_gb_s *= 0.6;
    Prediction nearby = predict(other);
    weigh_measurements(nearby, layouts);
    EXPECT_EQ(nearby.evidence, Evidence::calibrated);
    slow.cluster.calibration = ClusterCalibration{"megatron-lm", {}};
    EXPECT_EQ(predict(slow).evidence, Evidence::calibrated) << "this cluster was measured";
    slow.cluster.calibration.reset();
    slow.gpus = slow.layout.dp = 2;
    slow.layout.tp = 1;
    EXPECT_THAT(all_warnings(predict(slow)), testing::Not(HasSubstr("between nodes"))) << "nothing crosses them";
}

TEST(Regimes, RangesGrowWithTheDistanceFromWhatWasMeasured)
{
    const ResolvedPlan plan = plan_of(16, {{"tp", 2}, {"dp", 8}});
    ASSERT_TRUE(plan.stack.measured.at("h100-94gb-sxm").clusters.contains("tsubame4"));
    const double here = time_half_width(plan);
    const auto expect_wider
        = [&](const ResolvedPlan& other, const char* words) { EXPECT_GT(time_half_width(other), here) << words; };
    ResolvedPlan other = plan;
    other.cluster.id = "another";
    expect_wider(other, "another site");
    expect_wider(plan_of(16, {{"tp", 2}, {"dp", 8}}, "dgx-b200"), "another GPU");
    // The stack ran on TSUBAME's Hoppers and on ABCI's Amperes, on no Blackwell.
    const ResolvedPlan same_chip = plan_of(16, {{"tp", 2}, {"dp", 8}}, "dgx-h100");
    ASSERT_FALSE(same_chip.stack.measured.contains(same_chip.cluster.gpu.id));
    expect_wider(same_chip, "another GPU of the generation");
    EXPECT_GT(time_half_width(plan_of(16, {{"tp", 2}, {"dp", 8}}, "dgx-b200")), time_half_width(same_chip));
    ResolvedPlan unnamed = same_chip;
    unnamed.cluster.gpu.generation = "";
    EXPECT_GT(time_half_width(unnamed), time_half_width(same_chip)) << "nobody knows what its chip is";
    other = plan;
    other.training.attention = AttentionKernel::unfused;
    expect_wider(other, "another kernel");
    other = plan;
    other.training.seq_len = 1 << 20;
    expect_wider(other, "a longer sequence");
    other = plan;
    other.model.layers *= 4;
    expect_wider(other, "a larger model");
    other = plan;
    other.gpus = 64;
    const double tens = time_half_width(other);
    other.stack.measured["h100-94gb-sxm"].gpus = 16;
    EXPECT_GT(time_half_width(other), tens) << "a larger job";
    const ResolvedPlan generic = plan_of(16, {{"tp", 2}, {"dp", 8}}, "tsubame4", "generic");
    expect_wider(generic, "a software of which nothing was measured");
    other = generic;
    other.model.experts = Experts{8, 2, 1024};
    EXPECT_GE(time_half_width(other), time_half_width(generic)) << "experts";
}

TEST(Regimes, MemoryThatWasNeverMeasuredSaysSo)
{
    const Prediction never = predict(plan_of(16, {{"tp", 2}, {"dp", 8}}));
    EXPECT_THAT(all_warnings(never), HasSubstr("no measurements of memory with stack megatron-lm"));
    const Prediction printed = predict(plan_of(8, {{"tp", 1}, {"dp", 8}}, "grand-teton-h100", "torchtitan"));
    EXPECT_THAT(all_warnings(printed), testing::Not(HasSubstr("no measurements of memory")));
    EXPECT_LT(memory_half_width(printed.plan), memory_half_width(never.plan));
}

TEST(Regimes, DomainsRoundTripAndBadOnesAreNamed)
{
    const Json json{{"h100-80gb-sxm",
        {{"runs", 3}, {"gpus", 8}, {"pipeline_gpus", 0}, {"regimes", {"fp8"}}, {"inter_node_gb_s", {12.5, 50.0}},
            {"parameters_b", {1.5, 8.0}}, {"seq_len", {2048.0, 8192.0}}, {"clusters", {"dgx-h100"}}}}};
    const auto domains = domains_from_json(json, "x");
    ASSERT_TRUE(domains);
    EXPECT_EQ(to_json(*domains), json);
    const auto error = [](const char* text) { return domains_from_json(*parse_json(text, "x"), "x").error().line(); };
    EXPECT_THAT(error(R"({"g":{"regimes":["speed"]}})"), HasSubstr("expected a list of cp_across_nodes"));
    EXPECT_THAT(error(R"({"g":{"runs":-1}})"), HasSubstr("x: g: runs"));
    EXPECT_THAT(error(R"({"g":{"parameters_b":[8,1]}})"), HasSubstr("expected two numbers above 0"));
    EXPECT_THAT(error(R"([])"), HasSubstr("expected an object"));
}

} // namespace
} // namespace fourfold::test
