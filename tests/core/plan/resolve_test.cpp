// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/stage_layers.h"
#include "support.h"

#include <numeric>

namespace fourfold::test {
namespace {

using enum Dimension;

bool has_note(const ResolvedPlan& plan, const std::string& part)
{
    return std::any_of(plan.notes.begin(), plan.notes.end(),
        [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

// A data sheet's 400 Gb/s are 50 GB/s.
TEST(Resolve, BandwidthsInBitsAreAskedAbout)
{
    const auto with = [](double inside, double between) {
        Json json = to_json(resolved(base_plan()), PresetStyle::inlined);
        json["cluster"]["intra_node"]["bandwidth_gb_s"] = inside;
        json["cluster"]["inter_node"]["bandwidth_gb_s"] = between;
        return resolved(must(plan_from_json(json, "test")));
    };
    EXPECT_FALSE(has_note(with(900, 100), "Gb/s"));
    EXPECT_TRUE(has_note(with(900, 400),
        "cluster.inter_node.bandwidth_gb_s 400 is more than any adapter has (200 GB/s): "
        "if it is in Gb/s, write 50"));
    EXPECT_TRUE(has_note(with(7200, 100), "if it is in Gb/s, write 900"));
}

TEST(Resolve, ThreeKeysAreEnough)
{
    const ResolvedPlan plan = resolved(base_plan());
    EXPECT_EQ(plan.model.id, "small");
    EXPECT_EQ(plan.cluster.id, "modern");
    EXPECT_EQ(plan.stack.id, "generic");
    EXPECT_EQ(plan.name, "Small on 16 x Modern GPU");
    EXPECT_EQ(plan.nodes(), 2);
    const Layout& layout = plan.layout;
    EXPECT_EQ((std::vector<int>{layout.tp, layout.cp, layout.pp, layout.ep, layout.etp, layout.virtual_stages}),
        std::vector<int>(6, 1));
    EXPECT_EQ(layout.dp, 16);
    EXPECT_EQ(layout.dp_shard, 16);
    EXPECT_EQ(layout.order, (std::array{tp, cp, pp, dp}));
    EXPECT_EQ(layout.stage_layers, std::vector<int>{8});
    const Training& training = plan.training;
    EXPECT_EQ(training.seq_len, 4096);
    EXPECT_EQ(training.micro_batch, 1);
    EXPECT_EQ(training.global_batch, 16);
    EXPECT_EQ(training.micro_batches, 1);
    EXPECT_EQ(training.schedule, Schedule::one_f_one_b);
    EXPECT_EQ(training.sharding, Sharding::none);
    EXPECT_EQ(training.recompute, Recompute::none);
    EXPECT_EQ(training.precision, Precision::bf16);
    EXPECT_EQ(training.grad_dtype, Precision::fp32);
    EXPECT_FALSE(training.ramp_up);
    EXPECT_FALSE(training.recompute_layers);
    EXPECT_EQ(plan.run.steps, kDefaultSteps);
    EXPECT_EQ(plan.padded_vocab, 32000);
    EXPECT_DOUBLE_EQ(plan.tokens_per_step(), 16.0 * 4096);
}

TEST(Resolve, DataParallelTakesTheGpusThatAreLeft)
{
    EXPECT_EQ(resolved(changed(base_plan(), {"layout.tp=2", "layout.pp=2"})).layout.dp, 4);
    // 16 / 3: the rest is check()'s to report.
    EXPECT_EQ(resolved(changed(base_plan(), {"layout.pp=3"})).layout.dp, 5);
    EXPECT_EQ(resolved(changed(base_plan(), {"layout.pp=32"})).layout.dp, 1);
}

TEST(Resolve, ExpertTensorParallelFollowsTp)
{
    EXPECT_EQ(resolved(changed(base_plan("experts"), {"layout.tp=4"})).layout.etp, 4);
    EXPECT_EQ(resolved(changed(base_plan("experts"), {"layout.tp=4", "layout.etp=1"})).layout.etp, 1);
}

TEST(Resolve, ShardsOverDataAndContextParallelRanks)
{
    EXPECT_EQ(resolved(changed(base_plan(), {"layout.cp=8", "layout.dp=2"})).layout.dp_shard, 16);
    EXPECT_EQ(resolved(changed(base_plan(), {"layout.cp=16", "training.sharding=parameters"})).layout.dp_shard, 16);
    EXPECT_EQ(resolved(changed(base_plan(), {"training.sharding=hybrid"})).layout.dp_shard, 8);
    EXPECT_EQ(resolved(changed(base_plan(), {"training.sharding=hybrid", "layout.tp=4"})).layout.dp_shard, 4);
    // 12 ranks on nodes of 8: 8 does not divide them.
    EXPECT_EQ(resolved(changed(base_plan("small", "modern", 12), {"training.sharding=hybrid"})).layout.dp_shard, 6);
}

TEST(Resolve, DefaultsComeFromTheStack)
{
    const ResolvedPlan plan = resolved(changed(base_plan(), {"stack=megatron-lm", "training.overlap.p2p=false"}));
    EXPECT_EQ(plan.layout.order, (std::array{tp, cp, dp, pp}));
    EXPECT_EQ(plan.training.sharding, Sharding::optimizer);
    EXPECT_EQ(plan.training.optimizer, Optimizer::fused_adamw);
    EXPECT_EQ(plan.training.flop_convention, FlopConvention::megatron_lm);
    // One key of an object from the stack, one from the plan, one built in.
    EXPECT_FALSE(plan.training.overlap.grad_reduce);
    EXPECT_FALSE(plan.training.overlap.p2p);
    EXPECT_TRUE(plan.training.overlap.param_gather);
    EXPECT_EQ(resolved(changed(base_plan(), {"stack=megatron-lm", "training.sharding=none"})).training.sharding,
        Sharding::none);
}

TEST(Resolve, PlanOverridesTheOrderOfTheStack)
{
    EXPECT_EQ(resolved(changed(base_plan(), {R"(layout.order=["dp","tp","pp","cp"])"})).layout.order,
        (std::array{dp, tp, pp, cp}));
}

TEST(Resolve, BatchAndMicroBatches)
{
    const auto batch = [](const std::vector<std::string>& settings) {
        const ResolvedPlan plan = resolved(changed(base_plan(), settings));
        return std::pair(plan.training.global_batch, plan.training.micro_batches);
    };
    EXPECT_EQ(batch({"training.global_batch=64"}), std::pair(64, 4));
    EXPECT_EQ(batch({"training.micro_batches=3", "training.micro_batch=2"}), std::pair(96, 3));
    EXPECT_EQ(batch({"layout.pp=4", "training.micro_batch=2"}), std::pair(32, 4));
    EXPECT_EQ(batch({"layout.pp=4", "layout.virtual_stages=2"}), std::pair(32, 8));
    EXPECT_EQ(batch({"training.global_batch=100"}), std::pair(100, 6));
    EXPECT_EQ(batch({"training.global_batch=3"}), std::pair(3, 1));
    EXPECT_EQ(batch({"training.global_batch=64", "training.micro_batches=9"}), std::pair(64, 9));
}

TEST(Resolve, SchedulesOfVirtualStages)
{
    const auto schedule = [](const std::vector<std::string>& settings) {
        return resolved(changed(base_plan(), settings)).training.schedule;
    };
    EXPECT_EQ(schedule({"layout.pp=2", "layout.virtual_stages=2"}), Schedule::interleaved);
    EXPECT_EQ(schedule({"layout.pp=2", "layout.virtual_stages=2", "training.schedule=zb-v"}), Schedule::zb_v);
    EXPECT_EQ(schedule({"layout.pp=2", "layout.virtual_stages=2", "training.schedule=gpipe"}), Schedule::gpipe);
    const ResolvedPlan csv = resolved(changed(base_plan(), {"layout.pp=2", "training.schedule=own.csv"}));
    EXPECT_EQ(csv.training.schedule, Schedule::csv);
    EXPECT_EQ(csv.training.schedule_csv, "own.csv");
}

TEST(Resolve, PrecisionOfGpusWithoutBf16)
{
    EXPECT_EQ(resolved(base_plan("small", "old")).training.precision, Precision::fp16);
    const ResolvedPlan cpu = resolved(base_plan("small", "computer"));
    EXPECT_EQ(cpu.training.precision, Precision::fp32);
    EXPECT_TRUE(has_note(cpu, "has no bf16"));
    EXPECT_EQ(
        resolved(changed(base_plan("small", "old"), {"training.precision=bf16"})).training.precision, Precision::bf16);
}

TEST(Resolve, VocabularyIsPaddedAsTheStackDoes)
{
    EXPECT_EQ(resolved(changed(base_plan(), {"layout.tp=4"})).padded_vocab, 32256); // next multiple of 128 x 4
    EXPECT_TRUE(has_note(resolved(changed(base_plan(), {"layout.tp=4"})), "from 32000 to 32256"));
    EXPECT_EQ(resolved(changed(base_plan(), {"layout.tp=4", "stack=nanotron"})).padded_vocab, 32000);
}

TEST(Resolve, NotesWhatHasNoEffect)
{
    EXPECT_TRUE(has_note(resolved(changed(base_plan(), {"training.seq_len=8192"})), "beyond the 4096 positions"));
    EXPECT_TRUE(has_note(resolved(changed(base_plan(), {"training.recompute_layers=2"})), "recompute_layers"));
    EXPECT_TRUE(has_note(resolved(changed(base_plan(), {"training.offload_layers=2"})), "offload_layers"));
    EXPECT_TRUE(has_note(resolved(changed(base_plan(), {"training.fp8_recipe=rowwise"})), "fp8_recipe"));
    EXPECT_TRUE(has_note(resolved(changed(base_plan(), {"run.steps=2", "run.tokens=5"})), "run.tokens"));
    EXPECT_TRUE(has_note(resolved(changed(base_plan(), {"run.eval.every=2"})), "run.eval.data"));
    EXPECT_TRUE(has_note(resolved(changed(base_plan(), {"training.mx_rounding=ceil"})), "mx_rounding"));
    EXPECT_TRUE(has_note(resolved(changed(base_plan(), {"training.fp8_scale_group=rank"})), "fp8_scale_group"));
    EXPECT_TRUE(has_note(resolved(changed(base_plan(), {"run.documents.end=5"})), "run.documents.end"));
    EXPECT_FALSE(has_note(
        resolved(changed(base_plan(), {"run.documents.end=5", "run.documents.mask=true"})), "run.documents.end"));
    EXPECT_TRUE(has_note(resolved(changed(base_plan(), {"run.momentum=0.8"})), "run.momentum"));
    EXPECT_FALSE(
        has_note(resolved(changed(base_plan(), {"run.momentum=0.8", "training.optimizer=muon"})), "run.momentum"));
    EXPECT_TRUE(has_note(resolved(changed(base_plan(), {"run.ahead_loss_weight=0.5"})), "run.ahead_loss_weight"));
    EXPECT_TRUE(has_note(resolved(changed(base_plan(), {"training.experts.capacity=1.25"})), "training.experts"));
    EXPECT_TRUE(has_note(resolved(changed(base_plan(), {"training.experts.capacity_of=rank"})), "capacity_of"));
    const std::vector<std::string> each{"training.fsdp.each_micro_batch=true", "training.sharding=parameters"};
    EXPECT_TRUE(has_note(resolved(changed(base_plan(), each)), "each_micro_batch"));
    EXPECT_TRUE(resolved(base_plan()).notes.empty());
}

// What a config.json in a plan says and its family does not have is no part of the prediction: that is said.
TEST(Resolve, NotesWhatAModelLeavesOut)
{
    Json document = base_plan().document;
    document["model"] = {{"model_type", "llama"}, {"hidden_size", 64}, {"num_hidden_layers", 2},
        {"num_attention_heads", 4}, {"intermediate_size", 128}, {"vocab_size", 256}, {"final_logit_softcapping", 30.0},
        {"bos_token_id", 1}, {"never_heard_of", 1}};
    const auto notes = [&] { return resolved(must(plan_from_json(document, "test"))).notes; };
    ASSERT_EQ(notes().size(), 1u) << "what is known to cost something";
    EXPECT_EQ(notes().front().rfind("model.final_logit_softcapping: the cap of logits", 0), 0u);
    document["model"]["final_logit_softcapping"] = nullptr;
    EXPECT_TRUE(notes().empty());
}

TEST(Resolve, UnknownPresetsNameTheFieldAndNearestIds)
{
    const auto line = [](const char* field, const char* id) {
        return resolve(must(with_field(base_plan(), field, id)), presets()).error().line();
    };
    EXPECT_EQ(line("model", "smal"), "test.plan.json: model: there is no model preset \"smal\" (did you mean small?)");
    EXPECT_EQ(line("cluster", "xyz"),
        "test.plan.json: cluster: there is no cluster preset \"xyz\" (known: computer, middle, modern, old)");
    EXPECT_NE(line("stack", "megatron").find("megatron-lm"), std::string::npos) << line("stack", "megatron");
    EXPECT_NE(line("model", "../models/small").find("no model preset"), std::string::npos);
    EXPECT_NE(line("model", "").find("no model preset"), std::string::npos);
    EXPECT_EQ(resolve(must(with_field(base_plan(), "model", "smal")), presets()).error().exit_status(), 2);
}

TEST(Resolve, ObjectsInPlaceOfPresets)
{
    Json document = base_plan().document;
    document["cluster"] = {{"gpu", "modern"}, {"gpus_per_node", 4}, {"intra_node", {{"bandwidth_gb_s", 300}}},
        {"inter_node", {{"bandwidth_gb_s", 25}}}};
    const ResolvedPlan plan = resolved(must(plan_from_json(document, "p")));
    EXPECT_EQ(plan.cluster.gpu.id, "modern");
    EXPECT_EQ(plan.cluster.id, "");
    EXPECT_EQ(plan.nodes(), 4);
    document["cluster"]["gpu"] = "moderm";
    EXPECT_EQ(resolve(must(plan_from_json(document, "p")), presets()).error().line(),
        "p: cluster.gpu: there is no gpu preset \"moderm\" (did you mean modern?)");
    document["cluster"].erase("gpu");
    EXPECT_EQ(resolve(must(plan_from_json(document, "p")), presets()).error().where, "p: cluster.gpu");
    document = base_plan().document;
    document["model"] = {{"model_type", "llama"}};
    EXPECT_NE(
        resolve(must(plan_from_json(document, "p")), presets()).error().where.find("p: model"), std::string::npos);
}

// A copy of a preset that was edited is no longer that preset.
TEST(Resolve, AnObjectKeepsAnIdOnlyWhereItEqualsThePreset)
{
    Json document = to_json(resolved(base_plan()), PresetStyle::inlined);
    EXPECT_EQ(resolved(must(plan_from_json(document, "p"))).model.id, "small");
    EXPECT_EQ(resolved(must(plan_from_json(document, "p"))).cluster.id, "modern");
    document["model"]["num_hidden_layers"] = 4;
    document["cluster"]["gpus_per_node"] = 2;
    document["layout"].erase("stage_layers");
    const ResolvedPlan edited = resolved(must(plan_from_json(document, "p")));
    EXPECT_EQ(edited.model.id, "");
    EXPECT_EQ(edited.cluster.id, "");
    EXPECT_EQ(resolved(must(plan_from_json(to_json(edited, PresetStyle::ids), "p"))).model.layers, 4);
}

TEST(Resolve, AStackOfThePlansOwnStaysAnObject)
{
    Json document = base_plan().document;
    document["stack"] = {{"id", "generic"}, {"vocab_multiple", 1000}, {"constants", {{"gemm_efficiency", 0.5}}},
        {"training_defaults", {{"recompute", "full"}}}};
    const ResolvedPlan own = resolved(must(plan_from_json(document, "p")));
    EXPECT_EQ(own.padded_vocab, 32000);
    EXPECT_EQ(own.stack.constants.at("gemm_efficiency"), 0.5);
    EXPECT_EQ(own.training.recompute, Recompute::full);
    const ResolvedPlan again = resolved(must(plan_from_json(to_json(own, PresetStyle::ids), "p")));
    EXPECT_EQ(again.stack.constants, own.stack.constants);
    EXPECT_EQ(again.stack.vocab_multiple, 1000);
    // One that equals its preset is the preset.
    document["stack"] = to_json(resolved(base_plan()), PresetStyle::inlined)["stack"];
    const ResolvedPlan preset = resolved(must(plan_from_json(document, "p")));
    EXPECT_EQ(preset.stack.constants.at("gemm_efficiency"), 0.7);
    EXPECT_EQ(to_json(preset, PresetStyle::ids)["stack"], "generic");
}

TEST(Resolve, HugeMeshesAreRefused)
{
    for (const std::vector<std::string>& settings : {std::vector<std::string>{"layout.tp=1048576", "layout.pp=1048576"},
             {"layout.pp=1048576", "layout.virtual_stages=4096"}, {"layout.dp=1048576", "layout.tp=2"},
             {"training.micro_batches=1073741824", "training.micro_batch=1048576"}}) {
        const auto out = resolve(changed(base_plan(), settings), presets());
        ASSERT_FALSE(out);
        EXPECT_EQ(out.error().code, ProblemCode::bad_input);
    }
}

TEST(Resolve, BadDefaultsOfAStackAreNamed)
{
    const Json stack = {{"id", "own"}, {"training_defaults", {{"sharding", "zero"}}}};
    Json document = base_plan().document;
    document["stack"] = stack;
    const auto out = resolve(must(plan_from_json(document, "p")), presets());
    ASSERT_FALSE(out);
    EXPECT_NE(out.error().line().find("stack own: training_defaults.sharding: found \"zero\""), std::string::npos)
        << out.error().line();
}

TEST(StageLayers, EvenSplitGivesTheRemainderToTheFirst)
{
    EXPECT_EQ(even_stage_layers(8, 3), (std::vector<int>{3, 3, 2}));
    EXPECT_EQ(even_stage_layers(2, 4), (std::vector<int>{1, 1, 0, 0}));
}

TEST(StageLayers, CostBasedSplitOfNanotron)
{
    // A block costs 4 h^2 + 3 h ffn = 42 M, the head V h = 268 M: half of the total is 11.2 blocks.
    const ResolvedPlan plan = resolved(changed(base_plan("wide-vocab"), {"stack=nanotron", "layout.pp=2"}));
    EXPECT_EQ(plan.layout.stage_layers, (std::vector<int>{12, 4}));
    for (int chunks = 1; chunks <= 20; ++chunks) {
        const std::vector<int> split = cost_based_stage_layers(plan.model, chunks);
        EXPECT_EQ(split.size(), static_cast<std::size_t>(chunks));
        EXPECT_EQ(std::accumulate(split.begin(), split.end(), 0), 16);
    }
    ModelShape playbook = plan.model; // the 1B model of the Ultrascale playbook: 10 + 6 and the head
    playbook.ffn = 8192;
    EXPECT_EQ(cost_based_stage_layers(playbook, 2), (std::vector<int>{10, 6}));
}

} // namespace
} // namespace fourfold::test
