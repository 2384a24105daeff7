// SPDX-License-Identifier: GPL-3.0-or-later
// What a rehearsal says of the reserved memory beside what a GPU showed: the trainer of 26 November 2026 with LibTorch
// 2.11.0 on an H200 (tests/bench/README.md). And what the planner says beside what a rehearsal holds.
#include "core/predict/prediction.h"
#include "core/program/build.h"
#include "core/program/expert_imbalance.h"
#include "runner/trainer/rehearsal/rehearse_rank.h"
#include "tests/parity/compare.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <gtest/gtest.h>

namespace fourfold::trainer {
namespace {

// The setups of tests/gpu/memory.py; what c10::cuda had reserved at the end of step 3.
struct Measured {
    const char* name;
    int hidden, layers, seq_len, micro_batch;
    const char *precision, *recompute;
    double reserved_mib;
};

class RehearsedMemory : public ::testing::TestWithParam<Measured> { };

TEST_P(RehearsedMemory, IsWhatAGpuReserved)
{
    const Measured& run = GetParam();
    const auto quoted = [](const std::string& key, const char* word) { return key + "=\"" + word + '"'; };
    const auto number = [](const std::string& key, int value) { return key + "=" + std::to_string(value); };
    const fourfold::testing::TemporaryFolder folder; // its tokens are not read
    const ResolvedPlan plan = fourfold::testing::tiny_plan(fourfold::testing::write_tokens(folder.path()),
        {R"(model={"model_type":"llama","vocab_size":32000,"tie_word_embeddings":false,"max_position_embeddings":4096})",
            number("model.hidden_size", run.hidden), number("model.num_hidden_layers", run.layers),
            number("model.num_attention_heads", run.hidden / 64), number("model.num_key_value_heads", run.hidden / 256),
            number("model.intermediate_size", run.hidden * 11 / 4), quoted("cluster", "dgx-h100"), "gpus=1",
            number("training.seq_len", run.seq_len), number("training.micro_batch", run.micro_batch),
            number("training.global_batch", 2 * run.micro_batch), quoted("training.precision", run.precision),
            quoted("training.recompute", run.recompute)});
    const auto rehearsed = rehearse_rank(plan, 0);
    ASSERT_TRUE(rehearsed) << rehearsed.error().line();
    constexpr double kMiB = 1 << 20, kBound = 0.01;
    EXPECT_NEAR(double(rehearsed->reserved) / kMiB, run.reserved_mib, kBound * run.reserved_mib);
}

const Measured kMeasured[] = {
    {"small", 1024, 8, 1024, 1, "bf16", "none", 3252},
    {"micro_batch", 1024, 8, 1024, 4, "bf16", "none", 4220},
    {"sequence", 1024, 8, 4096, 1, "bf16", "none", 4220},
    {"selective", 1024, 8, 4096, 2, "bf16", "selective", 5430},
    {"full", 1024, 8, 4096, 2, "bf16", "full", 3738},
    {"fp32", 1024, 8, 1024, 4, "fp32", "none", 5392},
    {"large", 2048, 16, 2048, 1, "bf16", "none", 17342},
    {"large_full", 2048, 16, 2048, 2, "bf16", "full", 15898},
    {"large_selective", 2048, 16, 4096, 1, "bf16", "selective", 19366},
    {"large_sequence", 2048, 16, 4096, 1, "bf16", "none", 19374},
};
INSTANTIATE_TEST_SUITE_P(
    Gpus, RehearsedMemory, ::testing::ValuesIn(kMeasured), [](const auto& info) { return info.param.name; });

// Expandable segments are as long as what lies in them at most, but for a page of each; usual ones leave holes.
TEST(RehearsedMemory, OfExpandableSegmentsHasFewHoles)
{
    const fourfold::testing::TemporaryFolder folder; // its tokens are not read
    const auto tokens = fourfold::testing::write_tokens(folder.path());
    const auto rehearsed = [&](const std::string& settings) {
        const ResolvedPlan plan = fourfold::testing::tiny_plan(tokens,
            {R"(model={"model_type":"llama","vocab_size":32000,"tie_word_embeddings":false,"hidden_size":1024,)"
             R"("num_hidden_layers":8,"num_attention_heads":16,"num_key_value_heads":4,"intermediate_size":2816,)"
             R"("max_position_embeddings":4096})",
                "cluster=\"dgx-h100\"", "gpus=8", "layout.dp=8", "training.sharding=\"parameters\"",
                "training.seq_len=4096", "training.micro_batch=1", "training.global_batch=16",
                "training.precision=\"bf16\"", R"(run.environment={"PYTORCH_ALLOC_CONF":")" + settings + "\"}"});
        const auto rank = rehearse_rank(plan, 0);
        EXPECT_TRUE(rank) << rank.error().line();
        return *rank;
    };
    const RankRehearsal usual = rehearsed("expandable_segments:False"), grown = rehearsed("expandable_segments:True");
    EXPECT_EQ(grown.requested, usual.requested);
    EXPECT_LE(grown.allocated, usual.allocated) << "every block is split to its last 512 bytes";
    EXPECT_GE(grown.reserved, grown.allocated);
    EXPECT_LT(grown.reserved - grown.allocated, (usual.reserved - usual.allocated) / 2);
}

// A Llama of 1.5 billion parameters with a large vocabulary, one micro-batch of 4096 tokens.
class PlannedMemory : public ::testing::TestWithParam<fourfold::testing::Case> { };

TEST_P(PlannedMemory, IsWhatARehearsalHolds)
{
    const fourfold::testing::TemporaryFolder folder; // its tokens are not read
    std::vector<std::string> settings{
        R"(model={"model_type":"llama","vocab_size":128256,"tie_word_embeddings":false,"hidden_size":2048,)"
        R"("num_hidden_layers":16,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":8192,)"
        R"("max_position_embeddings":4096})",
        "cluster=\"dgx-h100\"", "training.seq_len=4096", "training.micro_batch=1", "training.global_batch=16",
        "training.precision=\"bf16\""};
    settings = fourfold::testing::joined(fourfold::testing::joined(settings, GetParam().model), GetParam().mesh);
    const ResolvedPlan plan = fourfold::testing::tiny_plan(fourfold::testing::write_tokens(folder.path()), settings);
    const Prediction planned = predict(plan);
    for (int stage = 0; stage < plan.layout.pp; ++stage) {
        const auto rehearsed = rehearse_rank(plan, stage * plan.layout.tp * plan.layout.cp);
        ASSERT_TRUE(rehearsed) << rehearsed.error().line();
        constexpr double kGiB = 1 << 30;
        const double bound = plan.training.async_tp ? 0.05 : 0.04; // what pieces of its products hold is not planned
        const double held = double(rehearsed->requested) / kGiB;
        EXPECT_NEAR(planned.memory_by_stage.at(std::size_t(stage)).total(), held, bound * held) << "stage " << stage;
    }
}

const std::string kSharded = "training.sharding=\"parameters\"", kEach = "training.fsdp.each_micro_batch=true",
                  kRecomputed = "training.recompute=\"full\"";
// As many tokens that what a layer's backward pass holds counts.
const std::string kMany = "training.micro_batch=8", kAsync = "training.async_tp=true",
                  kFp8 = "training.precision=\"fp8\"", kSelective = "training.recompute=\"selective\"",
                  kOperations = "training.recompute_parts=[\"operations\"]", kAway = "training.offload=\"activations\"";
const std::string kPlain = "training.compile=false";
const std::string kInBackward = "training.optimizer_in_backward=true";
const std::vector<std::string> kUnclipped{"run.clip_norm=0", "run.watch.not_finite=\"stop\""};
const fourfold::testing::Case kPlanned[] = {
    {"one", {"gpus=1"}, {}},
    {"one_recompute", {"gpus=1", kRecomputed}, {}},
    {"tied", {"gpus=1"}, {"model.tie_word_embeddings=true"}},
    {"not_fused", {"gpus=1", "training.optimizer=\"adamw\""}, {}},
    {"tp4", {"gpus=4", "layout.tp=4"}, {}},
    {"cp2", {"gpus=2", "layout.cp=2"}, {}},
    {"zero1", {"gpus=2", "layout.dp=2", "training.sharding=\"optimizer\""}, {}},
    {"zero1_of_8", {"gpus=8", "layout.dp=8", "training.sharding=\"optimizer\""}, {}},
    {"zero2", {"gpus=4", "layout.dp=4", "training.sharding=\"gradients\""}, {}},
    {"fsdp2", {"gpus=2", "layout.dp=2", kSharded}, {}},
    {"fsdp8", {"gpus=8", "layout.dp=8", kSharded}, {}},
    {"fsdp8_recompute", {"gpus=8", "layout.dp=8", kSharded, kRecomputed}, {}},
    {"fsdp8_tied", {"gpus=8", "layout.dp=8", kSharded}, {"model.tie_word_embeddings=true"}},
    {"pp4", {"gpus=4", "layout.pp=4"}, {}},
    {"pp2_interleaved", {"gpus=2", "layout.pp=2", "layout.virtual_stages=2", "training.schedule=\"interleaved\""}, {}},
    {"pp2_gpipe", {"gpus=2", "layout.pp=2", "training.schedule=\"gpipe\""}, {}},
    {"pp2_fsdp2", {"gpus=4", "layout.pp=2", "layout.dp=2", kSharded}, {}},
    {"pp2_fsdp8_each", {"gpus=16", "layout.pp=2", "layout.dp=8", kSharded, kEach, "training.global_batch=64"}, {}},
    {"pp2_fsdp8_each_recompute",
        {"gpus=16", "layout.pp=2", "layout.dp=8", kSharded, kEach, kRecomputed, kMany, "training.global_batch=512"},
        {}},
    {"pp2_fsdp8_each_kept",
        {"gpus=16", "layout.pp=2", "layout.dp=8", kSharded, kEach, "training.fsdp.reshard_after_forward=false",
            "training.global_batch=64"},
        {}},
    {"pp4_fsdp4_each_interleaved",
        {"gpus=16", "layout.pp=4", "layout.dp=4", "layout.virtual_stages=2", "training.schedule=\"interleaved\"",
            kSharded, kEach, "training.global_batch=64"},
        {}},
    {"pp2_fsdp8_each_zb_h1",
        {"gpus=16", "layout.pp=2", "layout.dp=8", "training.schedule=\"zb-h1\"", kSharded, kEach,
            "training.global_batch=64"},
        {}},
    {"in_backward", {"gpus=1", kInBackward, "training.global_batch=1"}, kUnclipped},
    {"in_backward_recompute", {"gpus=1", kInBackward, "training.global_batch=1", kRecomputed}, kUnclipped},
    {"in_backward_of_4", {"gpus=1", kInBackward, "training.global_batch=4"}, kUnclipped},
    {"in_backward_dp2", {"gpus=2", "layout.dp=2", kInBackward, "training.global_batch=2"}, kUnclipped},
    {"in_backward_zero1",
        {"gpus=4", "layout.dp=4", kInBackward, "training.sharding=\"optimizer\"", "training.global_batch=4"},
        kUnclipped},
    {"in_backward_zero2",
        {"gpus=4", "layout.dp=4", kInBackward, "training.sharding=\"gradients\"", "training.global_batch=4"},
        kUnclipped},
    {"in_backward_fsdp2", {"gpus=2", "layout.dp=2", kInBackward, kSharded, "training.global_batch=2"}, kUnclipped},
    {"in_backward_tp2", {"gpus=2", "layout.tp=2", kInBackward, "training.global_batch=1"}, kUnclipped},
    {"pp2_recompute_zero1", {"gpus=4", "layout.pp=2", "layout.dp=2", "training.sharding=\"optimizer\"", kRecomputed},
        {}},
    {"recompute_many", {"gpus=1", kRecomputed, kMany}, {}},
    {"tp8_recompute", {"gpus=8", "layout.tp=8", kRecomputed, kMany}, {}},
    {"tp8_plain_recompute", {"gpus=8", "layout.tp=8", "training.sequence_parallel=false", kRecomputed, kMany}, {}},
    {"tp2_async_beside", {"gpus=2", "layout.tp=2", kAsync, "training.overlap.tensor_parallel=true"}, {}},
    {"tp8_async_recompute", {"gpus=8", "layout.tp=8", kAsync, kRecomputed, kMany}, {}},
    {"tp8_async_fp8_recompute", {"gpus=8", "layout.tp=8", kAsync, kFp8, kRecomputed, kMany}, {}},
    {"tp8_operations", {"gpus=8", "layout.tp=8", kSelective, kOperations, kMany}, {}},
    {"tp8_plain_operations",
        {"gpus=8", "layout.tp=8", "training.sequence_parallel=false", kSelective, kOperations, kMany}, {}},
    {"tp8_async_operations", {"gpus=8", "layout.tp=8", kAsync, kSelective, kOperations, kMany}, {}},
    {"tp8_operations_away", {"gpus=8", "layout.tp=8", kSelective, kOperations, kMany, kAway}, {}},
    {"tp2_pp2_fsdp2_async_fp8_recompute",
        {"gpus=8", "layout.tp=2", "layout.pp=2", "layout.dp=2", kSharded, kAsync, kFp8, kRecomputed,
            "training.micro_batch=4"},
        {"model.num_hidden_layers=32"}},
    {"plain", {"gpus=1", kPlain}, {}},
    {"plain_fp32_many", {"gpus=1", kPlain, "training.precision=\"fp32\"", "training.micro_batch=2"}, {}},
    {"plain_tp4", {"gpus=4", "layout.tp=4", kPlain, kMany}, {}},
    {"plain_recompute_many", {"gpus=1", kPlain, kRecomputed, kMany}, {}},
    {"plain_operations_many", {"gpus=1", kPlain, kSelective, kOperations, kMany}, {}},
    {"fp16_gradients", {"gpus=2", "layout.tp=2", "training.precision=\"fp16\"", "training.grad_dtype=\"fp16\""}, {}},
};
INSTANTIATE_TEST_SUITE_P(
    Layouts, PlannedMemory, ::testing::ValuesIn(kPlanned), [](const auto& info) { return info.param.name; });

// Routers, the exchange of tokens (of ranks with slices of the same experts each other's too) and latents, at the size
// of large models: evenly loaded.
class PlannedExperts : public ::testing::TestWithParam<fourfold::testing::Case> { };

TEST_P(PlannedExperts, TakeWhatARehearsalHolds)
{
    const fourfold::testing::TemporaryFolder folder; // its tokens are not read
    const ResolvedPlan plan = fourfold::testing::tiny_plan(fourfold::testing::write_tokens(folder.path()),
        fourfold::testing::joined(
            fourfold::testing::joined(
                {"cluster=\"dgx-h100\"", "gpus=8", "training.seq_len=4096", "training.micro_batch=2",
                    "training.global_batch=16", "training.precision=\"bf16\"", "training.sharding=\"parameters\""},
                GetParam().model),
            GetParam().mesh));
    const auto rehearsed = rehearse_rank(plan, 0);
    ASSERT_TRUE(rehearsed) << rehearsed.error().line();
    constexpr double kGiB = 1 << 30, kBound = 0.025;
    const double held = double(rehearsed->requested) / kGiB;
    EXPECT_NEAR(predict(with_expert_imbalance(plan, 0)).memory_by_stage.at(0).total(), held, kBound * held);
}

const std::vector<std::string> kMixtral{
    R"(model={"model_type":"mixtral","vocab_size":32000,"tie_word_embeddings":false,"hidden_size":2048,)"
    R"("num_hidden_layers":12,"num_attention_heads":16,"num_key_value_heads":8,"intermediate_size":5632,)"
    R"("max_position_embeddings":4096,"num_local_experts":8,"num_experts_per_tok":2})"};
const std::vector<std::string> kDeepseek{
    R"(model={"model_type":"deepseek_v3","vocab_size":32000,"hidden_size":2048,"num_hidden_layers":12,)"
    R"("num_attention_heads":16,"intermediate_size":8192,"moe_intermediate_size":1408,"n_routed_experts":64,)"
    R"("num_experts_per_tok":6,"n_shared_experts":2,"n_group":1,"topk_group":1,"first_k_dense_replace":1,)"
    R"("q_lora_rank":384,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,)"
    R"("max_position_embeddings":4096,"rms_norm_eps":1e-6,"tie_word_embeddings":false})"};
const fourfold::testing::Case kExpertPlans[] = {
    {"mixtral_ep8", {"layout.dp=8", "layout.ep=8"}, kMixtral},
    {"mixtral_ep4_etp2", {"layout.tp=2", "layout.dp=4", "layout.ep=4"}, kMixtral},
    {"deepseek_ep8", {"layout.dp=8", "layout.ep=8"}, kDeepseek},
    {"deepseek_ep8_selective", {"layout.dp=8", "layout.ep=8", kSelective}, kDeepseek},
    {"deepseek_ep4_etp2", {"layout.tp=2", "layout.dp=4", "layout.ep=4"}, kDeepseek},
};
INSTANTIATE_TEST_SUITE_P(
    Layouts, PlannedExperts, ::testing::ValuesIn(kExpertPlans), [](const auto& info) { return info.param.name; });

// Ranks whose experts get more tokens than the mean hold more, as planned.
TEST(UnevenRouting, IsPlannedAsARehearsalHoldsIt)
{
    const fourfold::testing::TemporaryFolder folder; // its tokens are not read
    const ResolvedPlan plan = fourfold::testing::tiny_plan(fourfold::testing::write_tokens(folder.path()),
        {R"(model={"model_type":"mixtral","vocab_size":512,"tie_word_embeddings":false,"hidden_size":1024,)"
         R"("num_hidden_layers":8,"num_attention_heads":16,"num_key_value_heads":4,"intermediate_size":3584,)"
         R"("max_position_embeddings":4096,"num_local_experts":8,"num_experts_per_tok":2})",
            "cluster=\"dgx-h100\"", "gpus=4", "layout.dp=4", "layout.ep=4", "training.seq_len=4096",
            "training.micro_batch=2", "training.global_batch=8", "training.precision=\"bf16\""});
    double least = 0;
    for (const double imbalance : {0.0, 0.5, 2.0}) {
        const auto rehearsed = rehearse_rank(plan, 0, {.expert_imbalance = imbalance});
        ASSERT_TRUE(rehearsed) << rehearsed.error().line();
        constexpr double kGiB = 1 << 30, kBound = 0.04;
        const double held = double(rehearsed->requested) / kGiB;
        const Prediction planned = predict(with_expert_imbalance(plan, imbalance));
        EXPECT_NEAR(planned.memory_by_stage.at(0).total(), held, kBound * held) << imbalance;
        EXPECT_GT(held, least * 1.05);
        least = held;
        // What the first rank gets more, the others do not.
        const auto quiet = rehearse_rank(plan, 3, {.expert_imbalance = imbalance});
        ASSERT_TRUE(quiet) << quiet.error().line();
        EXPECT_EQ(quiet->requested<rehearsed->requested, imbalance> 0) << imbalance;
    }
}

// What modules that predict further ahead add to the last stage, where a table for them stands in a pipeline.
class PredictionModules : public ::testing::TestWithParam<fourfold::testing::Case> { };

TEST_P(PredictionModules, ArePlannedAsARehearsalHoldsThem)
{
    struct Held {
        double rehearsed = 0, planned = 0; // GiB
    };
    const fourfold::testing::TemporaryFolder folder; // its tokens are not read
    const auto tokens = fourfold::testing::write_tokens(folder.path());
    const auto held = [&](const char* modules) {
        const ResolvedPlan plan = fourfold::testing::tiny_plan(tokens,
            fourfold::testing::joined(
                {R"(model={"model_type":"deepseek_v3","vocab_size":32000,"hidden_size":1024,"num_hidden_layers":4,)"
                 R"("num_attention_heads":16,"intermediate_size":2816,"moe_intermediate_size":704,)"
                 R"("n_routed_experts":8,"num_experts_per_tok":2,"n_shared_experts":1,"n_group":1,"topk_group":1,)"
                 R"("first_k_dense_replace":1,"q_lora_rank":384,"kv_lora_rank":128,"qk_nope_head_dim":64,)"
                 R"("qk_rope_head_dim":32,"v_head_dim":64,"max_position_embeddings":4096,"rms_norm_eps":1e-6,)"
                 R"("tie_word_embeddings":false})",
                    std::string("model.num_nextn_predict_layers=") + modules, "cluster=\"dgx-h100\"",
                    "training.seq_len=4096", "training.micro_batch=1", "training.global_batch=8",
                    "training.precision=\"bf16\""},
                GetParam().mesh));
        const int last = plan.layout.pp - 1;
        const auto rehearsed = rehearse_rank(plan, last * plan.layout.tp * plan.layout.cp);
        EXPECT_TRUE(rehearsed) << rehearsed.error().line();
        constexpr double kGiB = 1 << 30;
        return Held{double(rehearsed->requested) / kGiB, predict(plan).memory_by_stage.at(std::size_t(last)).total()};
    };
    const Held without = held("0"), with = held("1");
    const double added = with.rehearsed - without.rehearsed, planned = with.planned - without.planned;
    EXPECT_GT(added, 0.2);
    EXPECT_NEAR(planned, added, 0.04 * with.rehearsed) << without.rehearsed << " " << without.planned;
}

const fourfold::testing::Case kWithModules[] = {
    {"one", {"gpus=1"}, {}},
    {"one_recompute", {"gpus=1", kRecomputed}, {}},
    {"tp2", {"gpus=2", "layout.tp=2"}, {}},
    {"pp2", {"gpus=2", "layout.pp=2"}, {}},
    {"fsdp2", {"gpus=2", "layout.dp=2", kSharded}, {}},
};
INSTANTIATE_TEST_SUITE_P(
    Layouts, PredictionModules, ::testing::ValuesIn(kWithModules), [](const auto& info) { return info.param.name; });

// What Muon's owners gather and iterate, where nothing else is as large: tokens are few, so that a step's peak is in
// its update.
class MuonWorkspace : public ::testing::TestWithParam<fourfold::testing::Case> { };

TEST_P(MuonWorkspace, IsWhatARehearsalHolds)
{
    const fourfold::testing::TemporaryFolder folder; // its tokens are not read
    const ResolvedPlan plan = fourfold::testing::tiny_plan(fourfold::testing::write_tokens(folder.path()),
        fourfold::testing::joined(
            {R"(model={"model_type":"llama","vocab_size":512,"tie_word_embeddings":false,"hidden_size":2048,)"
             R"("num_hidden_layers":8,"num_attention_heads":16,"num_key_value_heads":8,"intermediate_size":5632,)"
             R"("max_position_embeddings":1024})",
                "cluster=\"dgx-h100\"", "training.seq_len=16", "training.micro_batch=1", "training.global_batch=4",
                "training.precision=\"bf16\"", "training.optimizer=\"muon\""},
            GetParam().mesh));
    const auto rehearsed = rehearse_rank(plan, 0);
    ASSERT_TRUE(rehearsed) << rehearsed.error().line();
    const std::vector<StageProgram> stages = build_program(plan);
    double workspace = 0, lasting = 2 * double(32 << 20); // cuBLAS's, of both threads that call it
    for (const Allocation& allocation : stages.at(0).allocations)
        if (allocation.kind != MemoryKind::other) // the planner's guess at such workspaces
            (allocation.lifetime == Lifetime::update ? workspace : lasting) += allocation.bytes;
    constexpr double kBound = 0.1;
    EXPECT_GT(workspace, 50e6);
    EXPECT_NEAR(double(rehearsed->requested) - lasting, workspace, kBound * workspace);
}

const fourfold::testing::Case kUnderMuon[] = {
    {"one", {"gpus=1"}, {}},
    {"dp4", {"gpus=4", "layout.dp=4"}, {}},
    {"tp2", {"gpus=2", "layout.tp=2"}, {}},
    {"dp4_zero1", {"gpus=4", "layout.dp=4", "training.sharding=\"optimizer\""}, {}},
    {"tp2_dp2_zero1", {"gpus=4", "layout.tp=2", "layout.dp=2", "training.sharding=\"optimizer\""}, {}},
};
INSTANTIATE_TEST_SUITE_P(
    Layouts, MuonWorkspace, ::testing::ValuesIn(kUnderMuon), [](const auto& info) { return info.param.name; });

// Of a step with one micro-batch no gradient outlives its update; those of several last until the last one's backward
// pass. Planner and rehearsal say so alike.
TEST(OptimizerInBackward, SavesTheGradientsOfASingleMicroBatch)
{
    struct Held {
        double rehearsed = 0, planned = 0, gradients = 0; // bytes
    };
    const fourfold::testing::TemporaryFolder folder; // its tokens are not read
    const auto tokens = fourfold::testing::write_tokens(folder.path());
    const auto held = [&](const char* in_backward, int micro_batches) {
        const ResolvedPlan plan = fourfold::testing::tiny_plan(tokens,
            fourfold::testing::joined(kUnclipped,
                {R"(model={"model_type":"llama","vocab_size":512,"tie_word_embeddings":false,"hidden_size":1024,)"
                 R"("num_hidden_layers":24,"num_attention_heads":8,"num_key_value_heads":4,"intermediate_size":2816,)"
                 R"("max_position_embeddings":1024})",
                    "cluster=\"dgx-h100\"", "training.seq_len=1024", "training.micro_batch=1",
                    "training.precision=\"bf16\"", "training.global_batch=" + std::to_string(micro_batches),
                    std::string("training.optimizer_in_backward=") + in_backward}));
        const auto rehearsed = rehearse_rank(plan, 0);
        EXPECT_TRUE(rehearsed) << rehearsed.error().line();
        constexpr double kGiB = 1 << 30;
        return Held{double(rehearsed->requested), predict(plan).memory_by_stage.at(0).total() * kGiB,
            4.0 * double(plan.model.parameters())};
    };
    const Held after = held("false", 1), within = held("true", 1);
    const double saved = after.rehearsed - within.rehearsed;
    EXPECT_GT(saved, 0.85 * after.gradients); // a bucket is always there
    EXPECT_NEAR(after.planned - within.planned, saved, 0.03 * saved);
    EXPECT_NEAR(held("true", 2).rehearsed, held("false", 2).rehearsed, 0.01 * after.rehearsed);
}

// Of two micro-batches beside each other one's activations come as the other's go: up to a layer more than those of
// one, less where they take turns within a layer. `least`: how much of it at least.
void expect_a_layer_more(
    const std::string& model, const std::vector<std::string>& layout, const std::string& field, double least)
{
    const fourfold::testing::TemporaryFolder folder; // its tokens are not read
    const auto tokens = fourfold::testing::write_tokens(folder.path());
    const auto held = [&](const char* beside) {
        const ResolvedPlan plan = fourfold::testing::tiny_plan(tokens,
            fourfold::testing::joined(
                {model, "cluster=\"dgx-h100\"", "gpus=2", "training.seq_len=4096", "training.micro_batch=1",
                    "training.global_batch=8", "training.precision=\"bf16\""},
                fourfold::testing::joined(layout, {field + "=" + beside})));
        EXPECT_TRUE(check(plan).empty());
        const auto rehearsed = rehearse_rank(plan, 0);
        EXPECT_TRUE(rehearsed) << rehearsed.error().line();
        return std::pair(double(rehearsed->requested),
            predict(with_expert_imbalance(plan, 0)).memory_by_stage.at(0).total() * double(1 << 30));
    };
    const auto [one, planned_one] = held("false");
    const auto [two, planned_two] = held("true");
    const double layer = planned_two - planned_one;
    EXPECT_GT(layer, 0.015 * one);
    EXPECT_GT(two - one, least * layer);
    EXPECT_LT(two - one, layer);
    EXPECT_NEAR(planned_two, two, 0.08 * two);
}

TEST(ExchangeBeside, HoldsALayerMoreThanOneMicroBatch)
{
    expect_a_layer_more(
        R"(model={"model_type":"mixtral","vocab_size":512,"tie_word_embeddings":false,"hidden_size":1024,)"
        R"("num_hidden_layers":8,"num_attention_heads":8,"num_key_value_heads":4,"intermediate_size":1024,)"
        R"("num_local_experts":8,"num_experts_per_tok":2,"max_position_embeddings":4096})",
        {"layout.dp=2", "layout.ep=2"}, "training.overlap.expert_exchange", 0.75);
}

TEST(AsynchronousTpBeside, HoldsUpToALayerMoreThanOneMicroBatch)
{
    for (const char* const heads : {"8", "16"})
        expect_a_layer_more(
            R"(model={"model_type":"llama","vocab_size":512,"tie_word_embeddings":false,"hidden_size":2048,)"
            R"("num_hidden_layers":8,"num_attention_heads":16,"num_key_value_heads":)"
                + std::string(heads) + R"(,"intermediate_size":5632,"max_position_embeddings":4096})",
            {"layout.tp=2", "training.async_tp=true"}, "training.overlap.tensor_parallel", 0.6);
}

} // namespace
} // namespace fourfold::trainer
