// SPDX-License-Identifier: GPL-3.0-or-later
// Every mesh computes what one rank computes: losses, every gradient shard, and the weights after ten steps.
#include "tests/parity/dumps.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fourfold::testing {
namespace {

using namespace std::chrono_literals;

struct Case {
    const char* name;
    std::vector<std::string> mesh; // assignments of the compared plan
    std::vector<std::string> model; // assignments of both plans
};

void PrintTo(const Case& c, std::ostream* out)
{
    *out << c.name;
}

std::vector<Dump> run(const ResolvedPlan& plan, const std::filesystem::path& folder, std::vector<std::string> extra)
{
    std::filesystem::create_directories(folder);
    std::vector<std::string> command{parity_worker(), "--plan", write_plan(plan, folder), "--run-dir", folder};
    command.insert(command.end(), extra.begin(), extra.end());
    Ranks ranks(plan.gpus, command, folder);
    const auto statuses = ranks.wait(200s);
    std::vector<Dump> dumps;
    for (int rank = 0; rank < plan.gpus; ++rank) {
        EXPECT_EQ(statuses[std::size_t(rank)], 0) << "rank " << rank << ": " << ranks.log(rank);
        if (statuses[std::size_t(rank)] == 0)
            dumps.push_back(read_dump(folder, rank));
    }
    return dumps;
}

// Largest relative differences over all ranks, tensors and steps.
struct Differences {
    double loss = 0, eval_loss = 0, grad_norm = 0, gradient = 0, weight = 0;
    std::string worst_tensor;
};

Differences compare(const std::vector<Dump>& dumps, const Dump& one)
{
    Differences worst;
    const auto relative = [](double a, double b) { return std::abs(a - b) / std::abs(b); };
    for (const Dump& dump : dumps) {
        EXPECT_EQ(dump.losses.size(), one.losses.size());
        for (std::size_t step = 0; step < one.losses.size(); ++step) {
            worst.loss = std::max(worst.loss, relative(dump.losses[step], one.losses[step]));
            worst.grad_norm = std::max(worst.grad_norm, relative(dump.grad_norms[step], one.grad_norms[step]));
        }
        worst.eval_loss = std::max(worst.eval_loss, relative(dump.eval_loss, one.eval_loss));
        EXPECT_EQ(dump.tensors.size(), one.tensors.size());
        for (const auto& [name, tensor] : dump.tensors) {
            const double gradient = worst_difference(tensor, one.tensors.at(name), &DumpedTensor::gradient);
            if (gradient > worst.gradient || worst.worst_tensor.empty()) {
                worst.gradient = gradient;
                worst.worst_tensor = name;
            }
            worst.weight
                = std::max(worst.weight, worst_difference(tensor, one.tensors.at(name), &DumpedTensor::weight));
        }
    }
    return worst;
}

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

Differences differences(const Case& c, std::vector<std::string> one_flags, std::vector<std::string> mesh_flags)
{
    const TemporaryFolder folder;
    const auto tokens = write_tokens(folder.path());
    const ResolvedPlan single = tiny_plan(tokens, c.model);
    const ResolvedPlan mesh = tiny_plan(tokens, joined(c.model, c.mesh));
    for (const Reason& reason : check(mesh))
        ADD_FAILURE() << reason.message;
    const auto one = run(single, folder.path() / "one", std::move(one_flags));
    const auto many = run(mesh, folder.path() / "many", std::move(mesh_flags));
    if (one.size() != 1 || int(many.size()) != mesh.gpus)
        return {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, "a rank failed"};
    EXPECT_LT(one[0].losses.back(), 0.97 * one[0].losses.front()) << "ten steps must learn something";
    if (mesh.layout.dp > 1 && mesh.training.overlap.grad_reduce) {
        EXPECT_GT(many[0].overlapped, 0) << "no gradient reduction began inside a backward pass";
    }
    return compare(many, one[0]);
}

const Case kCases[] = {
    {"tp2", {"gpus=2", "layout.tp=2"}, {}},
    {"tp2_plain", {"gpus=2", "layout.tp=2", "training.sequence_parallel=false"}, {"model.tie_word_embeddings=true"}},
    {"dp2", {"gpus=2", "layout.dp=2"}, {}},
    {"tp2_dp2", {"gpus=4", "layout.tp=2", "layout.dp=2"}, {}},
    {"tp2_dp2_tied_dp_inside", {"gpus=4", "layout.tp=2", "layout.dp=2", "layout.order=[\"dp\",\"tp\",\"cp\",\"pp\"]"},
        {"model.tie_word_embeddings=true"}},
    {"tp4_with_two_kv_heads", {"gpus=4", "layout.tp=4"}, {}},
    {"tp4_plain_with_two_kv_heads", {"gpus=4", "layout.tp=4", "training.sequence_parallel=false"}, {}},
    {"dp4_without_overlap", {"gpus=4", "layout.dp=4", "training.overlap.grad_reduce=false"}, {}},
    {"tp2_dp2_recompute", {"gpus=4", "layout.tp=2", "layout.dp=2", "training.recompute=\"full\""}, {}},
    {"tp2_qwen2_biases", {"gpus=2", "layout.tp=2"}, {"model.model_type=\"qwen2\"", "model.hidden_act=\"silu\""}},
    {"tp2_gpipe", {"gpus=2", "layout.tp=2", "training.schedule=\"gpipe\""}, {}},
    {"dp2_zero1", {"gpus=2", "layout.dp=2", "training.sharding=\"optimizer\""}, {}},
    {"dp3_zero1_uneven", {"gpus=3", "layout.dp=3", "training.sharding=\"optimizer\""},
        {"training.global_batch=6", "model.intermediate_size=50", "model.tie_word_embeddings=true"}},
    {"tp2_dp2_zero1", {"gpus=4", "layout.tp=2", "layout.dp=2", "training.sharding=\"optimizer\""}, {}},
};

class MeshEqualsOneRank : public ::testing::TestWithParam<Case> { };

TEST_P(MeshEqualsOneRank, InFp64)
{
    const auto worst = differences(GetParam(), {"--fp64"}, {"--fp64"});
    EXPECT_LT(worst.loss, 1e-12);
    EXPECT_LT(worst.eval_loss, 1e-12);
    EXPECT_LT(worst.grad_norm, 1e-10);
    EXPECT_LT(worst.gradient, 1e-10) << worst.worst_tensor;
    EXPECT_LT(worst.weight, 1e-9);
}

TEST_P(MeshEqualsOneRank, InFp32)
{
    const auto worst = differences(GetParam(), {}, {});
    EXPECT_LT(worst.loss, 1e-5);
    EXPECT_LT(worst.eval_loss, 1e-5);
    EXPECT_LT(worst.grad_norm, 1e-4);
    EXPECT_LT(worst.gradient, 1e-5) << worst.worst_tensor;
}

INSTANTIATE_TEST_SUITE_P(Meshes, MeshEqualsOneRank, ::testing::ValuesIn(kCases),
    [](const auto& info) { return std::string(info.param.name); });

// Recomputation repeats the same arithmetic: not one bit may differ.
TEST(Recompute, IsBitwiseEqualToNone)
{
    const auto worst = differences({"recompute", {"training.recompute=\"full\""}, {}}, {}, {});
    EXPECT_EQ(worst.loss, 0);
    EXPECT_EQ(worst.gradient, 0) << worst.worst_tensor;
    EXPECT_EQ(worst.weight, 0);
}

// Mixed precision follows fp32 closely, and a mesh of it follows its one rank as closely as bf16 allows.
TEST(MixedPrecision, FollowsFp32)
{
    const TemporaryFolder folder;
    const auto tokens = write_tokens(folder.path());
    // A GPU that has bf16: the planner refuses it on a plain CPU, which would only be slow.
    const std::vector<std::string> bf16{"training.precision=\"bf16\"",
        "cluster={\"gpu\":{\"name\":\"bf16 CPU\",\"memory_gib\":4,\"memory_bandwidth_gb_s\":50,"
        "\"peak_tflops\":{\"bf16\":0.2,\"fp32\":0.2}},\"gpus_per_node\":8,"
        "\"intra_node\":{\"bandwidth_gb_s\":5,\"latency_us\":30},\"inter_node\":{\"bandwidth_gb_s\":5,\"latency_us\":"
        "30}}"};
    const auto exact = run(tiny_plan(tokens), folder.path() / "fp32", {});
    const auto one = run(tiny_plan(tokens, bf16), folder.path() / "one", {});
    const auto many
        = run(tiny_plan(tokens, joined(bf16, {"gpus=4", "layout.tp=2", "layout.dp=2"})), folder.path() / "many", {});
    ASSERT_TRUE(exact.size() == 1 && one.size() == 1 && many.size() == 4);
    EXPECT_NE(one[0].losses, exact[0].losses) << "it must not be fp32 in disguise";
    for (const auto* dump : {&one[0], &many[0]}) {
        const auto worst = compare({*dump}, exact[0]);
        EXPECT_LT(worst.loss, 5e-3);
        EXPECT_LT(worst.gradient, 0.05) << worst.worst_tensor; // bf16 keeps 8 bits
    }
    EXPECT_EQ(many[0].losses, many[3].losses);
}

// The comparison notices a wrong collective, whichever it is.
struct Sabotage {
    const char* name;
    const char* collective;
    std::vector<std::string> mesh;
};
void PrintTo(const Sabotage& s, std::ostream* out)
{
    *out << s.name;
}

class NegativeControl : public ::testing::TestWithParam<Sabotage> { };

TEST_P(NegativeControl, IsNoticed)
{
    const auto worst
        = differences({"", GetParam().mesh, {}}, {"--fp64"}, {"--fp64", "--corrupt", GetParam().collective});
    EXPECT_GT(worst.gradient, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Collectives, NegativeControl,
    ::testing::Values(Sabotage{"gradient_reduction", "dp.all_reduce", {"gpus=2", "layout.dp=2"}},
        Sabotage{"sharded_gradient_reduction", "dp.reduce_scatter",
            {"gpus=2", "layout.dp=2", "training.sharding=\"optimizer\""}},
        Sabotage{"sequence_gather", "tp.all_gather", {"gpus=2", "layout.tp=2"}},
        Sabotage{"sequence_scatter", "tp.reduce_scatter", {"gpus=2", "layout.tp=2"}},
        Sabotage{"softmax_and_norms", "tp.all_reduce", {"gpus=2", "layout.tp=2"}},
        Sabotage{"shared_kv_heads", "kv.all_reduce", {"gpus=4", "layout.tp=4"}}),
    [](const auto& info) { return std::string(info.param.name); });

// What the ring sends is what the planner counts: the payload of each collective, per step.
TEST(Traffic, MatchesTheFormulas)
{
    const TemporaryFolder folder;
    const auto plan = tiny_plan(write_tokens(folder.path()), {"gpus=4", "layout.tp=2", "layout.dp=2", "run.steps=1"});
    const auto dumps = run(plan, folder.path() / "run", {});
    ASSERT_EQ(dumps.size(), 4u);
    constexpr int64_t kTokens = 16 * 2, kHidden = 32, kLayers = 2, kFp32 = 4, kMicroBatches = 2, kEvalMicroBatches = 4;
    const int64_t activation = kTokens * kHidden * kFp32;
    // Forward: gather before attention, MLP and head. Backward: the gathers that undo the scatters of each layer's two
    // regions and of the embedding.
    const int64_t gathers_forward = 2 * kLayers + 1, gathers_backward = 2 * kLayers + 1;
    EXPECT_EQ(dumps[0].bytes.at("tp").at("all_gather"),
        activation * (kMicroBatches * (gathers_forward + gathers_backward) + kEvalMicroBatches * gathers_forward));
    EXPECT_EQ(dumps[0].bytes.at("tp").at("reduce_scatter"), dumps[0].bytes.at("tp").at("all_gather"));
    int64_t elements = 0; // of rank 0's shards; the tiny model's buckets need no padding
    for (const auto& [name, tensor] : dumps[0].tensors)
        elements += int64_t(tensor.gradient.size());
    EXPECT_EQ(dumps[0].bytes.at("dp").at("all_reduce"), elements * kFp32);
}

} // namespace
} // namespace fourfold::testing
