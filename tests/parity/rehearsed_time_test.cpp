// SPDX-License-Identifier: GPL-3.0-or-later
// When a rehearsal says that things happen, beside when the planner says so: the step time of the shipped plans, what
// hides behind a backward pass, and how often the host waits for the device.
#include "core/plan/presets.h"
#include "core/plan/trainable.h"
#include "core/predict/prediction.h"
#include "runner/trainer/rehearsal/rehearse.h"
#include "tests/parity/compare.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/twins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace fourfold::trainer {
namespace {

using fourfold::testing::joined;
using Shipped = std::pair<std::string, ResolvedPlan>;

// Llama 3.1 405B on 16,384 GPUs: 16 stages of 4 chunks of 2 layers, whose weights 128 ranks share out.
[[maybe_unused]] Shipped on_16384()
{
    Plan plan = *read_plan(*Presets().file("plans", "llama-3.1-405b-torchtitan-512.plan"));
    for (const char* change : {"gpus=16384", "layout.pp=16", "layout.virtual_stages=4", "layout.dp=128",
             "training.micro_batch=1", "training.global_batch=2048"})
        plan = *with_assignment(plan, change);
    return {"llama_3_1_405b_on_16384", *resolve(plan, Presets())};
}

std::vector<Shipped> shipped()
{
    auto plans = fourfold::testing::shipped_plans();
#ifdef FOURFOLD_EVERY_MESH
    plans.push_back(on_16384());
#else
    constexpr int kMostRanks = 256, kMostMicroBatches = 64; // half a minute of a core each
    std::erase_if(plans, [](const Shipped& each) {
        return each.second.gpus > kMostRanks || each.second.training.micro_batches > kMostMicroBatches;
    });
#endif
    return plans;
}

class RehearsedTime : public ::testing::TestWithParam<Shipped> { };

// Both price the same kernels, messages and launches. What is left between them: a rehearsal waits for each message
// where it is waited for, the planner hides shares of them; and a rehearsal has the host's time at the end of a pass.
// That is more of a step on a CPU, where the planner's constants were fitted to whole steps, in deep pipelines of eager
// GPUs, and of small models.
TEST_P(RehearsedTime, IsNearThePlanned)
{
    constexpr int kMany = 256;
    const ResolvedPlan& wanted = GetParam().second;
    constexpr double kSmall = 1e9; // parameters
    const bool loose = wanted.cluster.gpu.is_cpu() || wanted.gpus > kMany;
    const double bound = loose ? 0.25 : wanted.model.parameters() < kSmall ? 0.15 : 0.1;
    ResolvedPlan plan = GetParam().second;
    ASSERT_TRUE(hand_to_trainer(plan, Presets()));
    const auto rehearsed = rehearse(plan);
    ASSERT_TRUE(rehearsed) << rehearsed.error().line();
    ASSERT_TRUE((*rehearsed)["step_time_s"].is_number()) << rehearsed->dump();
    const double found = (*rehearsed)["step_time_s"].get<double>(), planned = predict(plan).step_time_s.value_or(0);
    RecordProperty("rehearsed_s", std::to_string(found));
    RecordProperty("planned_s", std::to_string(planned));
    EXPECT_NEAR(found / planned, 1, bound) << found << " s rehearsed, " << planned << " s planned";
}
INSTANTIATE_TEST_SUITE_P(
    Plans, RehearsedTime, ::testing::ValuesIn(shipped()), [](const auto& info) { return info.param.first; });

// Attention that no fused kernel of LibTorch takes: time, memory and products of its blocks.
class BlockAttention : public ::testing::TestWithParam<fourfold::testing::Case> { };

TEST_P(BlockAttention, IsPlannedAsARehearsalDoesIt)
{
    const fourfold::testing::TemporaryFolder folder; // its tokens are not read
    const ResolvedPlan plan = fourfold::testing::tiny_plan(fourfold::testing::write_tokens(folder.path()),
        joined(joined({"cluster=\"dgx-h100\"", "gpus=1", "training.seq_len=4096", "training.micro_batch=2",
                          "training.global_batch=4", "training.precision=\"bf16\""},
                   GetParam().model),
            GetParam().mesh));
    const auto rehearsed = rehearse(plan);
    ASSERT_TRUE(rehearsed) << rehearsed.error().line();
    const Prediction planned = predict(plan);
    const Json& stage = (*rehearsed)["stages"][0];
    constexpr double kTime = 0.15, kMemory = 0.05;
    EXPECT_NEAR((*rehearsed)["step_time_s"].get<double>() / planned.step_time_s.value_or(0), 1, kTime);
    EXPECT_NEAR(planned.memory_by_stage.at(0).total() / stage["peak_tensors_gib"].get<double>(), 1, kMemory);

    // Two products a pass and five back for every block of 128 queries and the keys that one of them may see.
    const ModelShape& model = plan.model;
    double scores = 0;
    for (int layer = 0; layer < model.layers; ++layer)
        for (int64_t begin = 0; begin < plan.training.seq_len; begin += 128) {
            const int64_t first = model.windowed(layer) ? std::max<int64_t>(0, begin - model.window.tokens + 1) : 0;
            scores += 128.0 * double(begin + 128 - first);
        }
    const double q = double(model.heads) * double(model.head_dim), kv = double(model.kv_heads) * double(model.head_dim);
    const double layer = double(model.hidden) * (2 * q + 2 * kv + (model.gated() ? 3 : 2) * double(model.ffn));
    const double weights = model.layers * layer + double(model.hidden) * double(plan.padded_vocab);
    const double tokens = double(plan.training.seq_len) * plan.training.global_batch;
    EXPECT_DOUBLE_EQ(
        stage["step_flops"].get<double>(), 6 * weights * tokens + 7 * 2 * q * scores * plan.training.global_batch);
}

const fourfold::testing::Case kByBlocks[] = {
    {"linear_biases", {},
        {R"(model={"model_type":"bloom","vocab_size":32000,"hidden_size":1024,"n_layer":6,"n_head":16})"}},
    {"windows", {},
        {R"(model={"model_type":"mistral","vocab_size":32000,"tie_word_embeddings":false,"hidden_size":1024,)"
         R"("num_hidden_layers":6,"num_attention_heads":16,"num_key_value_heads":4,"intermediate_size":2816,)"
         R"("sliding_window":1000,"max_position_embeddings":4096})"}},
    {"numbers_of_32_bits", {"training.precision=\"fp32\""},
        {R"(model={"model_type":"llama","vocab_size":32000,"tie_word_embeddings":false,"hidden_size":1024,)"
         R"("num_hidden_layers":6,"num_attention_heads":16,"num_key_value_heads":4,"intermediate_size":2816,)"
         R"("max_position_embeddings":4096})"}},
};
INSTANTIATE_TEST_SUITE_P(
    Plans, BlockAttention, ::testing::ValuesIn(kByBlocks), [](const auto& info) { return info.param.name; });

ResolvedPlan tiny(const std::vector<std::string>& assignments)
{
    const fourfold::testing::TemporaryFolder folder; // its tokens are not read
    return fourfold::testing::tiny_plan(fourfold::testing::write_tokens(folder.path()), assignments);
}

// All-reduces of the last step on wires of this kind: inside of passes, and outside.
std::pair<int, int> sums_of(const ResolvedPlan& plan, std::string_view group)
{
    const auto rehearsed = rehearse_rank(plan, 0, {.fold = false});
    EXPECT_TRUE(rehearsed) << rehearsed.error().line();
    EXPECT_EQ(rehearsed->misused, "");
    const RankProgram& program = rehearsed->program;
    std::pair<int, int> sums;
    for (std::size_t i = rehearsed->step_begin.steps; i < program.steps.size(); ++i) {
        if (program.steps[i] < 0)
            continue;
        const WireOperation& asked = program.operations[std::size_t(program.steps[i])];
        const std::string& name = program.wires[std::size_t(asked.wire)].name;
        if (asked.kind == "all_reduce" && name.substr(0, name.find('/')) == group)
            ++(asked.pass >= 0 ? sums.first : sums.second);
    }
    return sums;
}

// Of HSDP each bucket is summed over the copies of its shard as soon as its reduction is through, and over the ranks of
// tp that share its norms after that: only the last few are left when the backward pass ends.
TEST(Overlap, CopiesOfAShardAreSummedBehindTheBackwardPass)
{
    constexpr int kLayers = 8, kLeft = 5;
    const std::vector<std::string> hsdp{"model.num_hidden_layers=" + std::to_string(kLayers), "gpus=8", "layout.tp=2",
        "layout.dp=4", "layout.dp_shard=2", "training.sharding=\"hybrid\"", "training.global_batch=16"};
    const auto [behind, after] = sums_of(tiny(hsdp), "dp_replicate");
    EXPECT_GE(behind + after, kLayers);
    EXPECT_LE(after, kLeft);
    const auto [shared_behind, shared_after] = sums_of(tiny(hsdp), "tp");
    EXPECT_GE(shared_behind, kLayers - kLeft);
    EXPECT_LE(shared_after, 2 * kLeft);

    const std::vector<std::string> off{"training.overlap.grad_reduce=false"};
    const auto [no_overlap_behind, no_overlap_after] = sums_of(tiny(joined(hsdp, off)), "dp_replicate");
    EXPECT_EQ(no_overlap_behind + no_overlap_after, behind + after);

    // A pipeline reduces once a step, behind its last micro-batch.
    const std::vector<std::string> stages{"gpus=16", "layout.pp=2"};
    const auto [staged_behind, staged_after] = sums_of(tiny(joined(hsdp, stages)), "dp_replicate");
    EXPECT_GE(staged_behind + staged_after, kLayers / 2);
    EXPECT_LE(staged_after, kLeft);
    EXPECT_GE(staged_behind, 1);
}

// What a rank of a pipeline asks for in the last step: by kind and wire, with the pass in which it does.
struct Asked {
    std::string kind, wire;
    int pass = -1; // of the step; -1: before its first
};
std::vector<Asked> asked_in_last_step(const RankRehearsal& rehearsed)
{
    const RankProgram& program = rehearsed.program;
    int first_pass = 0;
    while (program.passes.at(std::size_t(first_pass)).begin.steps < rehearsed.step_begin.steps)
        ++first_pass;
    std::vector<Asked> all;
    bool begun = false;
    for (std::size_t i = rehearsed.step_begin.steps; i < program.steps.size(); ++i) {
        if (program.steps[i] < 0)
            continue;
        const WireOperation& operation = program.operations[std::size_t(program.steps[i])];
        begun |= operation.pass >= 0;
        const int pass = operation.pass >= 0 ? operation.pass - first_pass : begun ? 1 << 20 : -1;
        all.push_back({operation.kind, program.wires[std::size_t(operation.wire)].name, pass});
    }
    return all;
}

const std::vector<std::string> kTwoChunks{"gpus=4", "layout.pp=2", "layout.virtual_stages=2", "layout.dp=2",
    "training.schedule=\"interleaved\"", "training.sharding=\"parameters\"", "model.num_hidden_layers=8",
    "training.global_batch=16"};

// Two layers before the first message comes, and all others, those of the second chunk too, while the first micro-batch
// goes through the first chunk: each chunk's weights are there when its turn comes.
TEST(Overlap, ChunksAreGatheredBeforeTheirTurn)
{
    const int micro_batches = tiny(kTwoChunks).training.micro_batches;
    ASSERT_GE(micro_batches, 4);
    for (const int rank : {0, 3}) { // of the first stage and of the last
        const auto rehearsed = rehearse_rank(tiny(kTwoChunks), rank, {.fold = false});
        ASSERT_TRUE(rehearsed) << rehearsed.error().line();
        EXPECT_EQ(rehearsed->misused, "");
        int before = 0, all = 0, last = -1;
        for (const Asked& asked : asked_in_last_step(*rehearsed))
            if (asked.kind == "all_gather" && asked.wire.starts_with("dp")) {
                ++all;
                before += asked.pass < 0 ? 1 : 0;
                last = std::max(last, asked.pass);
            }
        EXPECT_EQ(all, 5) << "four layers, and the embedding or the head";
        EXPECT_EQ(before, 2);
        EXPECT_LE(last, 1) << "the first two micro-batches through the first chunk";
    }
}

// The ranks tell each other the largest magnitudes of fp8 where no gathered weights and reduced gradients are in front.
TEST(Overlap, ScalesDoNotQueueBehindWeightsAndGradients)
{
    const auto plan = [](std::vector<std::string> more) {
        return tiny(joined(joined(fourfold::testing::fp8_model("tensorwise", 16), kTwoChunks), more));
    };
    const auto wires = [](const ResolvedPlan& of, std::string_view kind) {
        const auto rehearsed = rehearse_rank(of, 0, {.fold = false});
        EXPECT_TRUE(rehearsed) << rehearsed.error().line();
        std::set<std::string> names;
        for (const Asked& asked : asked_in_last_step(*rehearsed))
            if (asked.kind == kind && asked.wire.starts_with("dp") && asked.pass >= 0 && asked.pass < (1 << 20))
                names.insert(asked.wire);
        return names;
    };
    EXPECT_EQ(wires(plan({}), "all_gather"), std::set<std::string>{"dp/0"});
    EXPECT_EQ(wires(plan({}), "reduce_scatter"), std::set<std::string>{"dp/0"});
    EXPECT_EQ(wires(plan({}), "all_reduce"), std::set<std::string>{"dp/numbers0"});
    EXPECT_EQ(wires(plan({"training.fp8_scale_group=\"rank\""}), "all_reduce"), std::set<std::string>{});
}

// Its kernel is not there where a rehearsal runs: it takes the tensors of FlashAttention, at cuDNN's price.
TEST(Attention, OfCudnnIsRehearsedAtItsPrice)
{
    const auto with = [](const char* kernel) {
        const auto rehearsed
            = rehearse_rank(tiny({"cluster=\"dgx-h100\"", "training.precision=\"bf16\"", "model.head_dim=64",
                                "model.max_position_embeddings=8192", "training.seq_len=8192", "training.micro_batch=1",
                                "model.num_attention_heads=64", "model.num_key_value_heads=64",
                                std::string("training.attention=\"") + kernel + '"'}),
                0);
        EXPECT_TRUE(rehearsed) << rehearsed.error().line();
        return *rehearsed;
    };
    const RankRehearsal cudnn = with("cudnn"), flash = with("flash2");
    EXPECT_EQ(cudnn.work.flops, flash.work.flops);
    EXPECT_EQ(cudnn.requested, flash.requested);
    EXPECT_LT(cudnn.work.seconds, 0.95 * flash.work.seconds);
}

// The host waits once a step for its figures, once a step for the load of experts, and once for each pass through a
// layer of experts, which must know how many tokens come.
TEST(Host, WaitsAsOftenAsTheStepNeeds)
{
    const auto work = [](const std::vector<std::string>& assignments) {
        const auto rehearsed = rehearse_rank(tiny(assignments), 0);
        EXPECT_TRUE(rehearsed) << rehearsed.error().line();
        return rehearsed->work;
    };
    const std::vector<std::string> gpu{"cluster=\"dgx-h100\"", "training.precision=\"bf16\""},
        eight{"training.global_batch=8", "training.micro_batch=1"},
        experts{"model.model_type=\"mixtral\"", "model.num_local_experts=4", "model.num_experts_per_tok=2"};
    const auto dense = work(joined(gpu, eight));
    EXPECT_EQ(dense.host_waits, 1);
    EXPECT_EQ(work(gpu).host_waits, 1) << "however many micro-batches";
    constexpr int kLayers = 2, kMicroBatches = 8;
    const auto mixture = work(joined(joined(gpu, eight), experts));
    EXPECT_EQ(mixture.host_waits, 2 + kLayers * kMicroBatches);
    const auto again = work(joined(joined(joined(gpu, eight), experts), {"training.recompute=\"full\""}));
    EXPECT_EQ(again.host_waits, 2 + 2 * kLayers * kMicroBatches);
    // Figures come back; the tokens of each micro-batch go out, with their labels.
    EXPECT_EQ(dense.host_copies, 1 + kMicroBatches);
    constexpr int kProducts = 3; // of an expert, each of which is told whose rows are whose
    EXPECT_EQ(mixture.host_copies, dense.host_copies + 1 + kLayers * kMicroBatches * (1 + kProducts));
    // Steps that are not told of leave the load where it is.
    EXPECT_EQ(work(joined(joined(joined(gpu, eight), experts), {"run.log_every=100"})).host_waits,
        1 + kLayers * kMicroBatches);
}

} // namespace
} // namespace fourfold::trainer
