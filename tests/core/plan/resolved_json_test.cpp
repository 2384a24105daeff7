// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/fields.h"
#include "example_plans.h"
#include "support.h"

#include <functional>

namespace fourfold::test {
namespace {

// Everything a resolved plan holds but `where` and notes, as text.
std::string content(const ResolvedPlan& plan)
{
    return to_json(plan, PresetStyle::inlined).dump(1) + to_json(plan, PresetStyle::ids).dump(1)
        + std::to_string(plan.padded_vocab);
}

std::vector<Plan> plans()
{
    std::vector<Plan> out{must(parse_plan(kEverything, "all"))};
    for (const char* model : {"small", "experts", "narrow-mlp", "wide-vocab"})
        for (const char* cluster : {"modern", "old", "computer"})
            for (const char* stack : {"generic", "megatron-lm", "nanotron", "megatron-lm@0.9"})
                out.push_back(changed(base_plan(model, cluster),
                    {std::string("stack=") + stack, "layout.tp=2", "layout.pp=2", "training.micro_batch=2"}));
    out.push_back(changed(base_plan(), {"layout.pp=2", "training.schedule=own.csv", "training.sharding=hybrid"}));
    // Plans that break rules survive the round trip as well.
    out.push_back(changed(base_plan(), {"layout.tp=3", "layout.dp=7", "training.global_batch=5"}));
    return out;
}

TEST(ResolvedJson, IsAPlanFileOfTheSamePlan)
{
    for (const Plan& plan : plans()) {
        const ResolvedPlan before = resolved(plan);
        for (const PresetStyle style : {PresetStyle::ids, PresetStyle::inlined}) {
            const Json written = to_json(before, style);
            const Plan again = must(parse_plan(written.dump(), "again"));
            EXPECT_EQ(again.unknown_keys, std::vector<std::string>{});
            const ResolvedPlan after = resolved(again);
            EXPECT_EQ(content(after), content(before));
            EXPECT_EQ(plan_hash(after), plan_hash(before));
            EXPECT_EQ(check(after), check(before));
            EXPECT_EQ(after.stack.constants, before.stack.constants);
        }
    }
}

TEST(ResolvedJson, ReadResolvedNeedsNoPresets)
{
    for (const Plan& plan : plans()) {
        const ResolvedPlan before = resolved(plan);
        const Json written = to_json(before, PresetStyle::inlined);
        const ResolvedPlan after = must(read_resolved(must(parse_json(written.dump(), "p")), "p"));
        EXPECT_EQ(content(after), content(before));
        EXPECT_EQ(after.model.id, before.model.id);
        EXPECT_EQ(after.cluster.gpu.id, before.cluster.gpu.id);
        EXPECT_EQ(after.stack.written(), before.stack.written());
        EXPECT_EQ(after.stack.vocab_multiple, before.stack.vocab_multiple);
        EXPECT_TRUE(after.stack.constants.empty());
        EXPECT_EQ(plan_hash(after), plan_hash(before));
    }
}

TEST(ResolvedJson, ReadResolvedRefusesIds)
{
    const auto out = read_resolved(to_json(resolved(base_plan()), PresetStyle::ids), "node.json");
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().where, "node.json: model");
    EXPECT_FALSE(read_resolved(Json::array(), "node.json"));
}

TEST(ResolvedJson, WritesEveryField)
{
    std::vector<std::string> missing;
    Json document = must(parse_json(kEverything, "all"));
    const Json written = to_json(resolved(must(plan_from_json(document, "all"))), PresetStyle::inlined);
    for (const Field& field : plan_fields()) {
        if (field.type == FieldType::open_object || field.path.starts_with("budget"))
            continue; // remarks of a cluster; what no run depends on
        std::string pointer = std::string(1, '/').append(field.path);
        for (std::size_t at; (at = pointer.find("[].")) != std::string::npos;)
            pointer.replace(at, 3, "/0/");
        std::replace(pointer.begin(), pointer.end(), '.', '/');
        if (!written.contains(Json::json_pointer(pointer)))
            missing.push_back(field.path);
    }
    // "own" is no preset, so that the cluster of this plan has no id.
    EXPECT_EQ(missing, std::vector<std::string>{"cluster.id"});
}

TEST(Hash, LeavesOutNamesAndWhere)
{
    const Plan plan = base_plan();
    const std::string hash = plan_hash(resolved(plan));
    EXPECT_EQ(hash.size(), 64u);
    EXPECT_EQ(plan_hash(resolved(changed(plan, {"name=other"}))), hash);
    ResolvedPlan moved = resolved(plan);
    moved.where = "elsewhere";
    moved.notes = {"a note"};
    moved.model.name = moved.cluster.name = moved.cluster.gpu.name = moved.stack.name = "renamed";
    moved.model.id = moved.cluster.id = "";
    EXPECT_EQ(plan_hash(moved), hash);
}

// What a training costs is no part of what runs.
TEST(Hash, LeavesOutTheBudget)
{
    const Plan plan = base_plan();
    const ResolvedPlan priced = resolved(changed(plan, {"budget.price_per_gpu_hour=2", "budget.gpu_mtbf_hours=5e4"}));
    EXPECT_EQ(plan_hash(priced), plan_hash(resolved(plan)));
    EXPECT_FALSE(to_json(priced, PresetStyle::ids).contains("budget"));
    EXPECT_FALSE(resolve(changed(plan, {"budget.facility_factor=0.5"}), presets()));
}

TEST(Hash, SameForExplicitDefaultsAndAnyKeyOrder)
{
    const std::string hash = plan_hash(resolved(base_plan()));
    EXPECT_EQ(
        plan_hash(resolved(changed(base_plan(), {"layout.dp=16", "training.precision=bf16", "stack=generic"}))), hash);
    const Json reordered = {{"gpus", 16}, {"cluster", "modern"}, {"model", "small"}};
    EXPECT_EQ(plan_hash(resolved(must(plan_from_json(reordered, "p")))), hash);
}

TEST(Hash, ChangesWithEveryInput)
{
    const ResolvedPlan before = resolved(must(parse_plan(kEverything, "all")));
    const Json document = to_json(before, PresetStyle::inlined);
    const std::string hash = plan_hash(before), layout = layout_hash(before);
    std::set<std::string> seen{hash};
    const std::vector<std::pair<std::string, std::string>> changes{{"gpus", "8"}, {"layout.tp", "1"},
        {"layout.order", R"(["tp","cp","pp","dp"])"}, {"layout.stage_layers", "[2,2,2,2]"}, {"layout.dp_shard", "1"},
        {"training.seq_len", "1024"}, {"training.recompute_layers", "null"}, {"training.overlap.p2p", "true"},
        {"training.precision", "bf16"}, {"cluster.inter_node.bandwidth_gb_s", "26"}, {"model.rms_norm_eps", "1e-4"},
        {"cluster.gpu.id", "other"}};
    const std::vector<std::pair<std::string, std::string>> run_changes{{"run.seed", "2"}, {"run.lr", "1e-4"},
        {"run.data.0.weight", "3"}, {"run.environment.A", "2"}, {"run.steps", "8"}, {"run.read_at", "null"}};
    const auto after = [&](const auto& change) {
        return must(read_resolved(
            must(with_field(must(plan_from_json(document, "p")), change.first, change.second)).document, "p"));
    };
    for (const auto& change : changes) {
        EXPECT_TRUE(seen.insert(plan_hash(after(change))).second) << change.first;
        EXPECT_NE(layout_hash(after(change)), layout) << change.first;
    }
    std::set<std::string> releases;
    for (const char* stack : {"megatron-lm", "megatron-lm@0.8", "megatron-lm@0.9", "megatron-lm@1"})
        EXPECT_TRUE(releases.insert(plan_hash(resolved(changed(base_plan(), {std::string("stack=") + stack})))).second)
            << stack;
    for (const auto& change : run_changes) {
        EXPECT_TRUE(seen.insert(plan_hash(after(change))).second) << change.first;
        EXPECT_EQ(layout_hash(after(change)), layout) << change.first;
    }
}

const Presets& shipped()
{
    static const Presets kShipped(std::vector<std::filesystem::path>{FOURFOLD_SOURCE_DIR "/presets"});
    return kShipped;
}

void expect_round_trip(const Plan& plan)
{
    SCOPED_TRACE(to_text(plan));
    const ResolvedPlan before = must(resolve(plan, shipped()));
    const Json written = to_json(before, PresetStyle::inlined);
    const Plan again = must(plan_from_json(written, "again"));
    EXPECT_EQ(again.unknown_keys, std::vector<std::string>{});
    EXPECT_EQ(content(must(read_resolved(written, "p"))), content(before));
    EXPECT_EQ(content(must(resolve(again, shipped()))), content(before));
    EXPECT_EQ(content(must(resolve(must(plan_from_json(to_json(before, PresetStyle::ids), "ids")), shipped()))),
        content(before));
}

// Every shipped model on every shipped cluster and stack is a plan that survives the trip to a node.
TEST(ShippedPresets, RoundTrip)
{
    ASSERT_GE(shipped().ids("models").size(), 10u);
    ASSERT_GE(shipped().ids("clusters").size(), 12u);
    ASSERT_GE(shipped().ids("stacks").size(), 6u);
    for (const std::string& model : shipped().ids("models"))
        for (const std::string& cluster : shipped().ids("clusters"))
            expect_round_trip(base_plan(model, cluster, 16));
    for (const std::string& stack : shipped().ids("stacks"))
        expect_round_trip(changed(base_plan("llama-3.1-8b", "tsubame4", 16), {"stack=" + stack, "layout.pp=2"}));
}

TEST(ShippedPresets, PlansAreReadAndBreakNoRule)
{
    ASSERT_FALSE(shipped().ids("plans").empty());
    for (const std::string& id : shipped().ids("plans")) {
        const Plan plan = must(read_plan(must(shipped().file("plans", id))));
        EXPECT_EQ(plan.unknown_keys, std::vector<std::string>{}) << id;
        for (const Reason& reason : check(must(resolve(plan, shipped()))))
            ADD_FAILURE() << id << ": " << reason.field << ": " << reason.message;
    }
}

// The ids and orders that the plan file's reference promises.
TEST(ShippedPresets, PromisedIds)
{
    const std::vector<std::pair<std::string, std::vector<std::string>>> promised{
        {"models",
            {"llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b", "llama-2-7b", "llama-2-13b", "llama-2-70b", "gpt3-175b",
                "bloom-176b", "mixtral-8x7b", "deepseek-v3"}},
        {"gpus",
            {"v100-32gb-sxm", "a100-40gb-sxm", "a100-80gb-sxm", "h100-80gb-sxm", "h100-94gb-sxm",
                "h100-96gb-hbm2e-500w", "h200-141gb-sxm", "b200-180gb", "gb200", "tpu-v5e", "tpu-v5p", "mi300x",
                "cpu"}},
        {"clusters",
            {"abci-a", "tsubame4", "grand-teton-h100", "jean-zay-a100", "kempner-h100", "kempner-a100", "dgx-a100",
                "dgx-h100", "dgx-b200", "gb200-nvl72", "tpu-v5e-pod", "this-computer"}},
        {"stacks", {"fourfold", "megatron-lm", "torchtitan", "megatron-deepspeed", "nanotron", "generic"}},
        {"plans", {"this-computer"}}};
    for (const auto& [kind, ids] : promised)
        for (const std::string& id : ids)
            EXPECT_TRUE(shipped().file(kind, id)) << kind << " " << id;
}

TEST(ShippedPresets, OrdersOfTheStacks)
{
    using enum Dimension;
    for (const char* stack : {"fourfold", "generic"})
        EXPECT_EQ(must(shipped().stack(stack)).order, (std::array{tp, cp, pp, dp})) << stack;
    for (const char* stack : {"megatron-lm", "megatron-deepspeed", "torchtitan", "nanotron"})
        EXPECT_EQ(must(shipped().stack(stack)).order, (std::array{tp, cp, dp, pp})) << stack;
}

} // namespace
} // namespace fourfold::test
