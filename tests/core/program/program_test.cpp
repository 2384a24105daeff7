// SPDX-License-Identifier: GPL-3.0-or-later
// The operation list holds all of the model: its parameters and its FLOPs.
#include "core/model/flops.h"
#include "core/model/parameters.h"
#include "core/program/allocations.h"
#include "core/program/build.h"
#include "core/program/operation.h"
#include "core/program/weight_gradient_memory.h"
#include "tests/core/predict/random_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace fourfold::test {
namespace {

Json plan_json(const std::string& model, Json layout = Json::object(), Json training = Json::object())
{
    int gpus = 1;
    for (const char* key : {"tp", "cp", "pp", "dp"})
        gpus *= layout.value(key, 1);
    training["recompute"] = training.value("recompute", "none");
    return {{"model", model}, {"cluster", "dgx-h100"}, {"gpus", gpus}, {"stack", "generic"}, {"layout", layout},
        {"training", training}};
}

double all_parameters(const std::vector<StageProgram>& program)
{
    double sum = 0;
    for (const StageProgram& stage : program)
        sum += stage.parameters;
    return sum;
}

template <typename Kind>
double flops(const std::vector<StageProgram>& program, std::set<Phase> phases)
{
    double sum = 0;
    for (const StageProgram& stage : program)
        for (const ChunkProgram& chunk : stage.chunks)
            for (const Operation& op : chunk.operations)
                if (op.is<Kind>() && phases.contains(op.phase))
                    sum += op.flops() * op.repeat;
    return sum;
}

TEST(Program, OneGpuHoldsEveryParameter)
{
    for (const char* id : {"llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b", "llama-2-7b", "gpt3-175b", "bloom-176b",
             "mixtral-8x7b", "deepseek-v3", "gpt2", "qwen2.5-7b", "gpt-oss-20b", "llama-4-maverick", "gemma-3-12b"}) {
        const ResolvedPlan plan = resolved(plan_json(id));
        const double padding = double(plan.padded_vocab - plan.model.vocab) * double(plan.model.hidden)
            * (plan.model.tied_embeddings ? 1 : 2);
        const double expected = plan.model.parameters() + padding;
        EXPECT_NEAR(all_parameters(build_program(plan)), expected, expected * 2e-4) << id;
    }
}

// The products' forward FLOPs are two for each active weight and token, those of attention two for each score and
// element of queries and values, whatever kinds of layers the stages have.
TEST(Program, ForwardFlopsAreThoseOfTheModel)
{
    for (const char* id : {"llama-3.1-8b", "qwen3-30b-a3b", "gpt-oss-20b", "llama-4-maverick", "nemotron-4-15b",
             "gemma-3-12b", "grok-1"}) {
        Json json = plan_json(id, {{"pp", 2}}, {{"seq_len", 16384}, {"micro_batches", 1}});
        json["stack"] = "generic";
        const ResolvedPlan plan = resolved(json);
        const double head = double(plan.padded_vocab - plan.model.vocab) * double(plan.model.hidden);
        const auto program = build_program(plan);
        const double products = 2 * 16384.0 * (plan.model.active_matmul_parameters() + head);
        EXPECT_NEAR(flops<Gemm>(program, {Phase::forward}) / products, 1, 1e-6) << id;
        const double attention
            = (model_flops_per_token(plan.model, 16384, true) - 6 * plan.model.active_matmul_parameters()) / 3 * 16384;
        EXPECT_NEAR(flops<Attention>(program, {Phase::forward}) / attention, 1, 1e-9) << id;
    }
}

// Seven stages of a model whose odd layers have experts hold seven layers or six, beginning with either kind.
TEST(Program, ExpertsInEachSecondLayerAreCountedByStage)
{
    const ModelShape model = resolved(plan_json("llama-4-maverick")).model;
    EXPECT_EQ(model.moe_layers(), 24);
    EXPECT_EQ(dense_layers(model, 0, 7), 4);
    EXPECT_EQ(dense_layers(model, 7, 7), 3);
    EXPECT_EQ(dense_layers(model, 7, 1), 0);
    EXPECT_EQ(dense_layers(model, 8, 1), 1);
    int dense = 0;
    for (int layer = 0; layer < model.layers; ++layer)
        dense += model.is_moe_layer(layer) ? 0 : 1;
    EXPECT_EQ(dense, 24);
}

TEST(Program, ShardsAddUpToTheModel)
{
    const double whole = all_parameters(build_program(resolved(plan_json("llama-2-7b"))));
    const double norms = 65.0 * 4096; // each TP rank keeps its own copy
    const double tp = all_parameters(build_program(resolved(plan_json("llama-2-7b", {{"tp", 4}}))));
    EXPECT_NEAR(4 * tp, whole + 3 * norms, whole * 1e-3);
    const double pp
        = all_parameters(build_program(resolved(plan_json("llama-2-7b", {{"pp", 4}}, {{"micro_batches", 4}}))));
    EXPECT_NEAR(pp, whole, whole * 1e-9);
    // Experts: EP 8 leaves one of Mixtral's eight on each rank.
    const double mixtral = all_parameters(build_program(resolved(plan_json("mixtral-8x7b", {{"dp", 8}}))));
    const double sharded = all_parameters(build_program(resolved(plan_json("mixtral-8x7b", {{"dp", 8}, {"ep", 8}}))));
    EXPECT_NEAR(mixtral - sharded, 32.0 * 7 * 3 * 4096 * 14336, mixtral * 1e-6);
}

double bytes_of(const std::vector<StageProgram>& program, const std::string& name)
{
    double sum = 0;
    for (const StageProgram& stage : program)
        for (const Operation& op : stage.step_operations)
            sum += op.name == name ? std::get<Collective>(op.work).bytes * op.repeat : 0;
    return sum;
}

// The bundled trainer sums over TP the gradients of what several of its ranks hold: the parameter table knows which.
TEST(Program, SharedGradientsAreThoseOfTheParameterTable)
{
    for (const char* id : {"llama-3.1-8b", "qwen2.5-7b", "bloom-176b", "gpt2"}) {
        for (const int tp : {2, 4, 16}) {
            for (const int pp : {1, 2}) {
                Json json = plan_json(id, {{"tp", tp}, {"pp", pp}, {"dp", 2}},
                    {{"micro_batches", 2}, {"sharding", "optimizer"}, {"sequence_parallel", true}});
                json["stack"] = "fourfold";
                const ResolvedPlan plan = resolved(json);
                if (plan.model.heads % tp != 0)
                    continue;
                double replicated = 0, keys = 0;
                for (const Parameter& parameter :
                    parameter_table(plan.model, plan.padded_vocab, 0, plan.model.layers, true, true)) {
                    const bool is_key = parameter.name.find("k_proj") != std::string::npos
                        || parameter.name.find("v_proj") != std::string::npos;
                    replicated += parameter.tp_dim < 0 ? double(parameter.elements()) : 0;
                    keys += is_key ? double(parameter.elements()) : 0;
                }
                const auto program = build_program(plan);
                const double owned = 4.0 / 2; // fp32, each of the two replicas owns half
                EXPECT_NEAR(bytes_of(program, "tp sum of replicated gradients"), replicated * owned, 1e-6 * replicated)
                    << id << " tp " << tp << " pp " << pp;
                const double copies = std::max(1, tp / plan.model.kv_heads);
                EXPECT_NEAR(bytes_of(program, "tp sum of shared key and value gradients"),
                    copies > 1 ? keys * copies / tp * owned : 0, 1e-6 * keys)
                    << id << " tp " << tp << " pp " << pp;
            }
        }
    }
}

TEST(Program, ProductsCountTheModelsFlops)
{
    for (const char* id : {"llama-3.1-8b", "gpt3-175b", "bloom-176b", "mixtral-8x7b", "deepseek-v3"}) {
        const ResolvedPlan plan
            = resolved(plan_json(id, Json::object(), {{"seq_len", 2048}, {"micro_batch", 1}, {"global_batch", 1}}));
        const auto program = build_program(plan);
        const double tokens = 2048;
        const double padding = double(plan.padded_vocab - plan.model.vocab) * double(plan.model.hidden);
        const double expected = 6 * tokens * (plan.model.active_matmul_parameters() + padding);
        const double found = flops<Gemm>(program, {Phase::forward, Phase::backward, Phase::weight_gradient});
        EXPECT_NEAR(found, expected, expected * 1e-3) << id;
        const double forward = flops<Gemm>(program, {Phase::forward});
        EXPECT_NEAR(forward * 3, found, found * 1e-9) << id << ": a backward is two forwards";
    }
}

TEST(Program, EachSplitOfTheWorkKeepsItsSum)
{
    const auto total = [](Json layout) {
        int ranks = 1;
        for (const auto& [key, value] : layout.items())
            ranks *= value.get<int>();
        const auto program
            = build_program(resolved(plan_json("gpt3-175b", layout, {{"seq_len", 2048}, {"micro_batches", 8}})));
        const double all = flops<Gemm>(program, {Phase::forward}) + 2 * flops<Attention>(program, {Phase::forward});
        return all * ranks / layout.value("pp", 1);
    };
    const double one = total(Json::object());
    for (const Json& layout :
        {Json{{"tp", 8}}, Json{{"cp", 4}}, Json{{"pp", 8}}, Json{{"tp", 4}, {"cp", 2}, {"pp", 2}}})
        EXPECT_NEAR(total(layout), one, one * 2e-3) << layout.dump();
}

// Qi et al. 2023, arXiv:2401.10241, table 1: 34 s b h + 5 a s s b bytes of activations and 32 s b h for weight
// gradients.
TEST(Program, OperandsOfWeightGradientsAreThoseOfThePaper)
{
    const ResolvedPlan gpt = resolved(plan_json("gpt3-175b", {{"pp", 8}},
        {{"seq_len", 2048}, {"micro_batch", 2}, {"micro_batches", 8}, {"schedule", "zb-h1"}}));
    EXPECT_DOUBLE_EQ(layer_weight_operand_bytes(gpt, rank_shape(gpt), false), 32.0 * 2048 * 2 * 12288);
    const auto kept = [&](const char* schedule) {
        ResolvedPlan plan = gpt;
        plan.training.schedule = *from_text<Schedule>(schedule, "");
        double bytes = 0;
        for (const StageProgram& stage : build_program(plan))
            for (const ChunkProgram& chunk : stage.chunks)
                for (const Allocation& a : chunk.allocations)
                    bytes += a.lifetime == Lifetime::weight_gradient ? a.bytes : 0;
        return bytes;
    };
    const double head = 2048.0 * 2 * (12288 + double(gpt.padded_vocab)) * 2;
    EXPECT_DOUBLE_EQ(kept("zb-h1"), 96 * 32.0 * 2048 * 2 * 12288 + head);
    EXPECT_EQ(kept("1f1b"), 0) << "a whole backward keeps nothing";
}

TEST(Program, FullRecomputationRepeatsTheForwardOfItsLayers)
{
    const auto repeated = [](Json training) {
        training["micro_batches"] = 4;
        const auto program = build_program(resolved(plan_json("llama-3.1-8b", {{"pp", 2}}, training)));
        return flops<Gemm>(program, {Phase::recompute});
    };
    const double full = repeated({{"recompute", "full"}});
    EXPECT_NEAR(repeated({{"recompute", "full"}, {"recompute_layers", 4}}), full / 4, full * 1e-9);
    EXPECT_EQ(repeated({{"recompute", "none"}}), 0);
}

TEST(Program, SelectiveRecomputationRepeatsTheProductsOfItsParts)
{
    const Json model{{"model_type", "llama"}, {"vocab_size", 1000}, {"hidden_size", 256}, {"num_hidden_layers", 4},
        {"num_attention_heads", 4}, {"num_key_value_heads", 2}, {"intermediate_size", 512},
        {"max_position_embeddings", 128}};
    const auto repeated = [&](const Json& parts, int every = 1) {
        Json plan = plan_json("llama-3.1-8b", Json::object(),
            {{"seq_len", 128}, {"micro_batch", 1}, {"recompute", "selective"}, {"recompute_parts", parts},
                {"recompute_every", every}});
        plan["model"] = model;
        return flops<Gemm>(build_program(resolved(plan)), {Phase::recompute});
    };
    // Sides of the weights in the order in which they multiply: q, k, v, output, gate, up, down.
    const std::vector<double> sides{256 * 256, 128 * 256, 128 * 256, 256 * 256, 512 * 256, 512 * 256, 256 * 512};
    const double tokens = 128, layers = 4;
    const auto products = [&](std::initializer_list<int> which) {
        double sum = 0;
        for (const int i : which)
            sum += 2 * tokens * layers * sides[std::size_t(i)];
        return sum;
    };
    EXPECT_EQ(repeated({"core-attention"}), 0);
    EXPECT_EQ(repeated({"layer-norm"}), 0);
    EXPECT_NEAR(repeated({"mlp"}), products({4, 5, 6}), 1);
    EXPECT_NEAR(repeated({"mlp"}, 2), products({4, 5, 6}) / 2, 1);
    EXPECT_NEAR(repeated({"operations"}), products({1, 3, 5}), 1) << "every second product, the first is kept";
}

TEST(Program, CollectivesBelongToTheParallelismThatIsOn)
{
    const auto parts = [](Json layout, Json training = Json::object()) {
        std::set<Part> found;
        for (const StageProgram& stage : build_program(resolved(plan_json("mixtral-8x7b", layout, training)))) {
            for (const ChunkProgram& chunk : stage.chunks)
                for (const Operation& op : chunk.operations)
                    if (op.communicates())
                        found.insert(op.part);
            for (const Operation& op : stage.step_operations)
                if (op.is<Collective>())
                    found.insert(op.part);
        }
        return found;
    };
    using Set = std::set<Part>;
    EXPECT_EQ(parts(Json::object()), Set{});
    EXPECT_EQ(parts({{"tp", 2}}), Set{Part::tp});
    EXPECT_EQ(parts({{"pp", 2}}), Set{Part::pp});
    EXPECT_EQ(parts({{"dp", 2}}), Set{Part::dp});
    EXPECT_EQ(parts({{"dp", 8}, {"ep", 8}}), (Set{Part::dp, Part::ep}));
    EXPECT_EQ(parts({{"cp", 2}}), (Set{Part::cp, Part::dp})) << "gradients are summed over dp x cp";
    EXPECT_EQ(parts({{"dp", 2}}, {{"sharding", "parameters"}}), Set{Part::dp});
}

TEST(Activations, LayerFormula)
{
    // Llama 3.1 8B without recomputation: 2 s (4 h + 2 h + 2 kv + 3 f) bytes a layer, divided by TP with sequence
    // parallelism.
    ResolvedPlan plan = resolved(plan_json("llama-3.1-8b", Json::object(), {{"seq_len", 8192}, {"micro_batch", 1}}));
    const double expected = 2.0 * 8192 * (4 * 4096 + 2 * 4096 + 2 * 1024 + 3 * 14336);
    EXPECT_NEAR(layer_activation_bytes(plan, rank_shape(plan), false), expected, 1);
    plan.layout.tp = 4;
    EXPECT_NEAR(layer_activation_bytes(plan, rank_shape(plan), false), expected / 4, 1);
    plan.training.sequence_parallel = false;
    EXPECT_NEAR(layer_activation_bytes(plan, rank_shape(plan), false), expected / 4 + 2.0 * 8192 * 4 * 4096 * 3 / 4, 1);
}

// Kempner CS2281, lecture 8: checkpoints of one sequence take 2 * seq_length * d * layers bytes.
TEST(Activations, FullRecomputationKeepsTheLecturesBytes)
{
    const ResolvedPlan plan = resolved(
        plan_json("llama-2-7b", Json::object(), {{"seq_len", 4096}, {"micro_batch", 1}, {"recompute", "full"}}));
    const auto program = build_program(plan);
    double kept = 0;
    for (const Allocation& a : program[0].chunks[0].allocations)
        if (a.lifetime == Lifetime::micro_batch && a.name == "activations")
            kept += a.bytes;
    EXPECT_NEAR(kept, 2.0 * 4096 * 4096 * 32, 1);
}

TEST(Constants, EveryPresetUsesDocumentedNames)
{
    std::set<std::string> known;
    for (const ConstantInfo& constant : kConstantTable) {
        EXPECT_FALSE(constant.meaning.empty());
        EXPECT_TRUE(known.insert(std::string(constant.name)).second) << constant.name << " twice";
    }
    for (const std::string& id : source_presets().ids("stacks")) {
        const auto stack = source_presets().stack(id);
        ASSERT_TRUE(stack.has_value()) << stack.error().line();
        for (const auto& [name, value] : stack->constants)
            EXPECT_TRUE(known.contains(name)) << id << ": " << name;
        for (const auto& [gpu, constants] : stack->gpu_constants) {
            EXPECT_TRUE(source_presets().gpu(gpu).has_value()) << id << ": " << gpu;
            for (const auto& [name, value] : constants)
                EXPECT_TRUE(known.contains(name)) << id << ": " << name;
        }
    }
}

TEST(Constants, AGpusOwnValueWins)
{
    Stack stack;
    stack.constants["gemm_efficiency"] = 0.5;
    stack.gpu_constants["a"]["gemm_efficiency"] = 0.6;
    EXPECT_EQ(Constants(stack, "a")[Constant::gemm_efficiency], 0.6);
    EXPECT_EQ(Constants(stack, "b")[Constant::gemm_efficiency], 0.5);
    EXPECT_EQ(Constants(stack, "b")[Constant::stream_efficiency], info(Constant::stream_efficiency).prior);
}

} // namespace
} // namespace fourfold::test
