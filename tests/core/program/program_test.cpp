// SPDX-License-Identifier: GPL-3.0-or-later
// The operation list holds all of the model: its parameters and its FLOPs.
#include "core/model/flops.h"
#include "core/model/parameters.h"
#include "core/plan/plan_schedule.h"
#include "core/program/allocations.h"
#include "core/program/build.h"
#include "core/program/operation.h"
#include "core/program/weight_gradient_memory.h"
#include "tests/core/predict/random_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
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

// Each of a rank's experts is launched by itself: DeepSeek-V3 has 58 layers with 256 experts behind 3 dense ones, so
// with EP 64 the host launches 58 * 4 a micro-batch, a third of the time forward and again where that is recomputed.
TEST(Program, TheHostLaunchesEachExpertOfARank)
{
    const auto launches = [](const char* model, Json layout, const char* recompute, Phase phase) {
        double sum = 0;
        for (const StageProgram& stage : build_program(
                 resolved(plan_json(model, std::move(layout), {{"recompute", recompute}, {"micro_batches", 4}}))))
            for (const ChunkProgram& chunk : stage.chunks)
                for (const Operation& op : chunk.operations) {
                    const HostCost* host = std::get_if<HostCost>(&op.work);
                    if (host != nullptr && host->constant == Constant::layer_floor_expert_s && op.phase == phase) {
                        EXPECT_EQ(host->rule, HostRule::floor);
                        sum += host->times * op.repeat;
                    }
                }
        return sum;
    };
    const Json wide{{"dp", 64}, {"ep", 64}};
    EXPECT_NEAR(launches("deepseek-v3", wide, "none", Phase::forward), 232.0 / 3, 1e-9);
    EXPECT_NEAR(launches("deepseek-v3", wide, "none", Phase::backward), 232.0 * 2 / 3, 1e-9);
    EXPECT_EQ(launches("deepseek-v3", wide, "none", Phase::recompute), 0);
    EXPECT_NEAR(launches("deepseek-v3", wide, "full", Phase::recompute), 232.0 / 3, 1e-9);
    // Mixtral: 32 layers of 8 experts, on 4 stages of 2 ranks.
    EXPECT_NEAR(
        launches("mixtral-8x7b", {{"pp", 4}, {"dp", 2}, {"ep", 2}}, "none", Phase::backward), 32 * 4 * 2.0 / 3, 1e-9);
    EXPECT_EQ(launches("llama-3.1-8b", {{"dp", 2}}, "none", Phase::forward), 0);
}

struct Exchange {
    double bytes = 0, times = 0;
};

Exchange exchange_of(const char* precision, const char* recipe, Json experts = Json::object())
{
    Json training{{"micro_batches", 1}, {"seq_len", 4096}, {"precision", precision}};
    if (*recipe != 0)
        training["fp8_recipe"] = recipe;
    if (!experts.empty())
        training["experts"] = std::move(experts);
    Exchange exchange;
    const auto program = build_program(resolved(plan_json("deepseek-v3", {{"dp", 64}, {"ep", 64}}, training)));
    for (const Operation& op : program[0].chunks[0].operations) {
        if (op.part != Part::ep || op.phase != Phase::forward)
            continue;
        exchange.bytes = std::get<Collective>(op.work).bytes;
        exchange.times += op.repeat;
    }
    return exchange;
}

// 4,096 tokens go to 8 experts each, with 7,168 elements, there and back in each of 58 layers. DeepSeek-V3
// (arXiv:2412.19437, section 3.3.3): there in fp8, back in bf16; other recipes send bf16 both ways.
TEST(Program, TokensGoToExpertsInFp8WhereTheRecipeSendsThemSo)
{
    constexpr double kElements = 4096.0 * 8 * 7168;
    EXPECT_DOUBLE_EQ(exchange_of("bf16", "").bytes, 2 * kElements);
    EXPECT_DOUBLE_EQ(exchange_of("fp8", "blockwise").bytes, 1.5 * kElements);
    EXPECT_DOUBLE_EQ(exchange_of("fp8", "mxfp8").bytes, 2 * kElements);
    EXPECT_DOUBLE_EQ(exchange_of("fp8", "tensorwise").bytes, 2 * kElements);
    EXPECT_DOUBLE_EQ(exchange_of("fp8", "blockwise").times, 2 * 58);
}

// An expert with fewer places than the busiest one would need takes what its places hold and drops the rest.
TEST(Program, AnExpertWithACapacityTakesNoMore)
{
    const auto products = [](double capacity, double imbalance) {
        ResolvedPlan plan
            = resolved(plan_json("mixtral-8x7b", {{"dp", 8}, {"ep", 8}}, {{"micro_batches", 1}, {"seq_len", 4096}}));
        plan.training.experts.capacity = capacity;
        plan.stack.constants["expert_imbalance"] = imbalance;
        const auto program = build_program(plan);
        double sum = 0;
        for (const Operation& op : program[0].chunks[0].operations)
            sum += op.name.starts_with("experts") && op.phase == Phase::forward ? op.flops() : 0;
        return sum;
    };
    const double mean = products(0, 0);
    ASSERT_GT(mean, 0);
    EXPECT_NEAR(products(0, 0.3) / mean, 1.3, 1e-9);
    EXPECT_NEAR(products(1.25, 0.3) / mean, 1.25, 1e-9);
    EXPECT_NEAR(products(2, 0.3) / mean, 1.3, 1e-9) << "no place is filled up";
    EXPECT_NEAR(products(0.5, 0.3) / mean, 0.5, 1e-9);
    EXPECT_DOUBLE_EQ(exchange_of("bf16", "", {{"capacity", 0.5}}).bytes, exchange_of("bf16", "").bytes / 2);
    EXPECT_DOUBLE_EQ(exchange_of("bf16", "", {{"capacity", 1.5}}).bytes, exchange_of("bf16", "").bytes);
}

// ZeRO-2 reduces a chunk's gradients where the schedule turns to another chunk: counted in the schedule itself.
TEST(Program, ZeRO2ReducesOnceForEachBlockOfMicroBatchesOfAChunk)
{
    for (const auto& [pp, chunks, micro_batches] : {std::array{4, 2, 16}, std::array{2, 4, 8}, std::array{4, 5, 8}}) {
        const ResolvedPlan plan
            = resolved(plan_json("llama-3.1-70b", {{"pp", pp}, {"dp", 2}, {"virtual_stages", chunks}},
                {{"micro_batches", micro_batches}, {"sharding", "gradients"}, {"schedule", "interleaved"}}));
        const PlanSchedule schedule = *plan_schedule(plan, micro_batches);
        const auto program = build_program(plan);
        for (std::size_t stage = 0; stage < program.size(); ++stage) {
            int blocks = 0, before = -1;
            for (const Action& action : schedule.actions[stage]) {
                if (action.kind == ActionKind::forward)
                    continue;
                blocks += action.chunk != before ? 1 : 0;
                before = action.chunk;
            }
            double reductions = 0; // of a layer, by all chunks in a step
            for (const ChunkProgram& chunk : program[stage].chunks)
                for (const Operation& op : chunk.operations)
                    if (op.name == "zero-2 gradient reduction")
                        reductions += op.repeat * micro_batches / (80.0 / pp / chunks);
            EXPECT_NEAR(reductions, blocks, 1e-9) << "pp " << pp << " chunks " << chunks << " stage " << stage;
        }
    }
    // Without virtual stages each micro-batch is reduced by itself: 8 layers a stage of Llama 3.1 8B, 8 of them.
    double each = 0;
    const auto program = build_program(
        resolved(plan_json("llama-3.1-8b", {{"pp", 4}, {"dp", 2}}, {{"micro_batches", 8}, {"sharding", "gradients"}})));
    for (const ChunkProgram& chunk : program[1].chunks)
        for (const Operation& op : chunk.operations)
            each += op.name == "zero-2 gradient reduction" ? op.repeat : 0;
    EXPECT_DOUBLE_EQ(each, 8);
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
