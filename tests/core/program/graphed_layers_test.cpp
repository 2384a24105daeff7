// SPDX-License-Identifier: GPL-3.0-or-later
// Which layers are recorded as CUDA graphs, and why none is.
#include "core/plan/graphed_layers.h"

#include "core/plan/plan_schedule.h"
#include "core/predict/prediction.h"
#include "core/schedule/actions.h"
#include "tests/core/predict/random_plans.h"

#include <gmock/gmock.h>

namespace fourfold::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kSmall[] = R"({"model_type":"llama","vocab_size":4096,"hidden_size":256,"num_hidden_layers":8,
    "num_attention_heads":4,"intermediate_size":704,"max_position_embeddings":512})";

ResolvedPlan graph_plan(Json layout, Json training, Json more = Json::object())
{
    for (Json* const object : {&layout, &training})
        if (object->is_null()) // {}
            *object = Json::object();
    Json plan{{"model", Json::parse(kSmall)}, {"cluster", "dgx-h100"}, {"stack", "fourfold"}, {"layout", layout},
        {"training", training}, {"run", {{"environment", {{std::string(kGraphsVariable), "1"}}}}}};
    if (!more.is_null())
        plan.update(more, true);
    int gpus = 1;
    for (const char* key : {"tp", "cp", "pp", "dp"})
        gpus *= layout.value(key, 1);
    plan["gpus"] = gpus;
    return resolved(plan);
}

TEST(GraphedLayers, AreThoseThatOneGpuComputesAlone)
{
    for (const ResolvedPlan& plan : {graph_plan({{"dp", 8}}, {{"sharding", "optimizer"}}),
             graph_plan({{"pp", 4}}, {{"schedule", "1f1b"}, {"micro_batches", 8}}),
             graph_plan({{"pp", 2}, {"virtual_stages", 2}}, {{"schedule", "interleaved"}, {"micro_batches", 4}}),
             graph_plan({}, {{"attention", "cudnn"}})}) {
        EXPECT_TRUE(wants_graphs(plan));
        EXPECT_EQ(why_no_graphs(plan), "");
        EXPECT_EQ(graphed_layers(plan, 0, 4, 0), 4);
    }
}

TEST(GraphedLayers, ThereAreNoneWhereAnythingMoves)
{
    const auto why = [](const Json& layout, const Json& training, const Json& more = Json::object()) {
        const ResolvedPlan plan = graph_plan(layout, training, more);
        const std::string reason = why_no_graphs(plan);
        EXPECT_EQ(graphed_layers(plan, 0, 8, 0), 0);
        EXPECT_THAT(plan.notes, ::testing::Contains("run.environment.FOURFOLD_CUDA_GRAPHS has no effect: " + reason));
        return reason;
    };
    EXPECT_THAT(why({}, {}, {{"stack", "megatron-lm"}}), HasSubstr("other software"));
    EXPECT_THAT(why({}, {}, {{"cluster", "this-computer"}}), HasSubstr("CPUs"));
    EXPECT_THAT(why({}, {{"compile", false}}), HasSubstr("training.compile"));
    EXPECT_THAT(why({{"tp", 2}}, {}), HasSubstr("communicate"));
    EXPECT_THAT(why({{"cp", 2}}, {}), HasSubstr("communicate"));
    EXPECT_THAT(why({{"dp", 2}}, {{"sharding", "parameters"}}), HasSubstr("gathered weights"));
    EXPECT_THAT(why({{"dp", 2}}, {{"sharding", "gradients"}}), HasSubstr("gradients"));
    EXPECT_THAT(why({}, {{"optimizer_in_backward", true}}, {{"run", {{"clip_norm", 0}}}}), HasSubstr("gradients"));
    EXPECT_THAT(why({}, {{"offload", "activations"}}), HasSubstr("host"));
    EXPECT_THAT(why({}, {{"precision", "fp8"}}), HasSubstr("8-bit"));
    EXPECT_THAT(why({}, {}, {{"run", {{"documents", {{"mask", true}}}}}}), HasSubstr("documents"));
    EXPECT_THAT(why({{"pp", 2}}, {{"schedule", "zb-h1"}, {"micro_batches", 4}}), HasSubstr("weight gradients"));
    EXPECT_THAT(why({}, {}, {{"model", "mixtral-8x7b"}}), HasSubstr("expert"));
    EXPECT_THAT(why({}, {{"recompute", "full"}}), HasSubstr("once more"));
}

TEST(GraphedLayers, SomeOfAModelAre)
{
    const ResolvedPlan mixed = graph_plan({}, {}, {{"model", "deepseek-v3"}});
    ASSERT_EQ(why_no_graphs(mixed), "");
    EXPECT_TRUE(is_graphed(mixed, 2, false));
    EXPECT_FALSE(is_graphed(mixed, 3, false));
    EXPECT_EQ(graphed_layers(mixed, 0, 61, 0), 3);
    const ResolvedPlan some = graph_plan({}, {{"recompute", "full"}, {"recompute_every", 4}});
    ASSERT_EQ(why_no_graphs(some), "");
    EXPECT_FALSE(is_graphed(some, 3, true));
    EXPECT_EQ(graphed_layers(some, 0, 8, 2), 6);
}

TEST(GraphedLayers, AreAskedForByOneVariable)
{
    const auto value = [](const char* text) {
        return graph_plan({}, {}, {{"run", {{"environment", {{std::string(kGraphsVariable), text}}}}}});
    };
    EXPECT_FALSE(wants_graphs(value("0")));
    EXPECT_FALSE(wants_graphs(value("")));
    EXPECT_TRUE(wants_graphs(value("1")));
    EXPECT_THAT(value("0").notes, IsEmpty());
    const Plan odd = *plan_from_json({{"model", Json::parse(kSmall)}, {"cluster", "dgx-h100"}, {"gpus", 1},
                                         {"run", {{"environment", {{std::string(kGraphsVariable), "yes"}}}}}},
        "odd.plan.json");
    const auto refused = resolve(odd, source_presets());
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().line(),
        HasSubstr("run.environment.FOURFOLD_CUDA_GRAPHS: expected \"0\" or \"1\", found \"yes\""));
}

// A set for each micro-batch that is under way: 1F1B's first stage has as many as there are stages, the last has one.
TEST(GraphedLayers, HaveASetForEachMicroBatchUnderWay)
{
    const auto sets = [](const ResolvedPlan& plan, int stage) {
        const auto schedule = *plan_schedule(plan, plan.training.micro_batches);
        std::vector<Action> room;
        return most_in_flight(
            schedule.actions_of(std::size_t(stage), room), plan.layout.pp * plan.layout.virtual_stages);
    };
    const ResolvedPlan pipeline = graph_plan({{"pp", 4}}, {{"schedule", "1f1b"}, {"micro_batches", 8}});
    EXPECT_THAT(sets(pipeline, 0), ElementsAre(4, 0, 0, 0));
    EXPECT_THAT(sets(pipeline, 3), ElementsAre(0, 0, 0, 1));
    EXPECT_THAT(sets(graph_plan({}, {{"micro_batches", 8}}), 0), ElementsAre(1));
    EXPECT_THAT(sets(graph_plan({{"pp", 2}}, {{"schedule", "gpipe"}, {"micro_batches", 6}}), 1), ElementsAre(0, 6));
}

// A model whose time goes into launches takes less of it, and a little more memory.
TEST(GraphedLayers, ArePriced)
{
    const auto training = Json{{"seq_len", 256}, {"micro_batch", 1}, {"global_batch", 8}};
    ResolvedPlan with = graph_plan({}, training), without = with;
    without.run.environment.clear();
    const Prediction fast = predict(with), slow = predict(without);
    EXPECT_LT(*fast.step_time_s, 0.7 * *slow.step_time_s);
    EXPECT_GT(*fast.memory_gib, *slow.memory_gib);
    EXPECT_LT(*fast.memory_gib, *slow.memory_gib + 0.1);
}

} // namespace
} // namespace fourfold::test
