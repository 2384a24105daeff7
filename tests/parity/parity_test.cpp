// SPDX-License-Identifier: GPL-3.0-or-later
// Every mesh computes what one rank computes: losses, every gradient shard, and the weights after ten steps.
#include "tests/parity/compare.h"
#include "tests/parity/matrix.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace fourfold::testing {
namespace {

#ifdef FOURFOLD_EVERY_MESH
const auto meshes = all_cases;
const std::vector<std::string> kPrecisions{"--both"};
#else
const auto meshes = covering_cases;
const std::vector<std::string> kPrecisions{"--fp64"}; // the drawn plans and the 16 ranks also in fp32
#endif

class MeshEqualsOneRank : public ::testing::TestWithParam<Case> { };

TEST_P(MeshEqualsOneRank, InLossesGradientsAndWeights)
{
    const auto worst = compare_with_one_rank(of_steps(GetParam(), kSteps), kPrecisions, kPrecisions);
    ASSERT_EQ(worst.problem, "");
    const Training& training = worst.mesh.training;
    if (worst.mesh.layout.dp > 1 && training.overlap.grad_reduce) {
        EXPECT_GT(worst.overlapped, 0) << "no gradient reduction began inside a backward pass";
    }
    if (training.sharding == Sharding::optimizer || training.sharding == Sharding::gradients) {
        EXPECT_EQ(worst.published_beside > 0, training.overlap.param_gather)
            << "updated weights come while the forward pass already runs";
    }
    EXPECT_EQ(excess(worst), "");
}

INSTANTIATE_TEST_SUITE_P(
    Meshes, MeshEqualsOneRank, ::testing::ValuesIn(meshes()), [](const auto& info) { return info.param.name; });

// What the meshes are compared with is no model that stands still.
TEST(OneRank, LearnsSomethingInTenSteps)
{
    const TemporaryFolder folder;
    const JobResult one = run_job(tiny_plan(write_tokens(folder.path())), folder.path() / "one", {"--fp64"});
    ASSERT_EQ(one.problem, "");
    EXPECT_LT(one.dumps[0].losses.back() / one.dumps[0].losses.front(), 0.99);
}

class PrecisionEqualsOneRank : public ::testing::TestWithParam<Case> { };

TEST_P(PrecisionEqualsOneRank, InFp64)
{
    EXPECT_EQ(excess(compare_with_one_rank(GetParam(), {"--fp64"}, {"--fp64"})), "");
}

INSTANTIATE_TEST_SUITE_P(Meshes, PrecisionEqualsOneRank, ::testing::ValuesIn(precision_cases()),
    [](const auto& info) { return info.param.name; });

// Plans that the planner's search would propose; in the long test every pair of settings that can be set together is in
// one of these jobs of at most 8 ranks (the quick tests have them under NCCL's rules alone: nccl_parity_test.cpp).
class CombinationOfSettings : public ::testing::TestWithParam<Case> { };

TEST_P(CombinationOfSettings, EqualsOneRank)
{
    EXPECT_EQ(excess(compare_with_one_rank(of_steps(GetParam(), kSteps), {"--both"}, {"--both"})), "");
}

#ifdef FOURFOLD_EVERY_MESH
INSTANTIATE_TEST_SUITE_P(CoveringArray, CombinationOfSettings, ::testing::ValuesIn(covering_array(2, 8)),
    [](const auto& info) { return std::to_string(info.index) + "_" + info.param.name; });
#endif
INSTANTIATE_TEST_SUITE_P(DrawnFromTheSearch, CombinationOfSettings, ::testing::ValuesIn(drawn_cases(4, 20261121, 8)),
    [](const auto& info) { return std::to_string(info.index) + "_" + info.param.name; });

// Every dimension at once, on 16 processes.
TEST(SixteenRanks, EqualOneRank)
{
    const auto shapes = mesh_shapes();
    const auto last = std::ranges::find_if(shapes, [](const Case& c) { return c.mesh[0] == "gpus=16"; });
    ASSERT_NE(last, shapes.end());
    EXPECT_EQ(excess(compare_with_one_rank(*last, {"--both"}, {"--both"})), "");
}

// Recomputation repeats the same arithmetic: not one bit may differ.
class Recomputation : public ::testing::TestWithParam<std::vector<std::string>> { };

TEST_P(Recomputation, IsBitwiseEqualToNone)
{
    const auto worst = compare_with_one_rank({"recompute", GetParam(), {}}, {}, {});
    ASSERT_EQ(worst.problem, "");
    EXPECT_EQ(worst.loss, 0);
    EXPECT_EQ(worst.gradient, 0) << worst.worst_tensor;
    EXPECT_EQ(worst.weight, 0);
}

INSTANTIATE_TEST_SUITE_P(Modes, Recomputation,
    ::testing::Values(std::vector<std::string>{"training.recompute=\"full\""},
        std::vector<std::string>{"training.recompute=\"full\"", "training.recompute_layers=1"},
        std::vector<std::string>{"training.recompute=\"full\"", "training.recompute_every=2"},
        std::vector<std::string>{"training.recompute=\"selective\""},
        std::vector<std::string>{"training.recompute=\"selective\"", "training.recompute_parts=[\"mlp\"]"},
        std::vector<std::string>{
            "training.recompute=\"selective\"", "training.recompute_parts=[\"layer-norm\",\"core-attention\"]"}));

// Nor where products are large enough for the other of the two libraries (runner/trainer/kernels/products.h), on
// processors that it is asked on.
TEST(RecomputedProducts, OfAnySizeAreBitwiseEqual)
{
    const std::string wide = "model={\"model_type\":\"llama\",\"vocab_size\":61,\"hidden_size\":512,"
                             "\"num_hidden_layers\":1,\"num_attention_heads\":8,\"intermediate_size\":640}";
    const auto worst = compare_with_one_rank(
        {"wide", {"training.recompute=\"full\""},
            {wide, "training.seq_len=128", "training.global_batch=4", "run.eval.batches=1", "run.steps=2"}},
        {}, {});
    ASSERT_EQ(worst.problem, "");
    EXPECT_EQ(worst.loss, 0);
    EXPECT_EQ(worst.gradient, 0) << worst.worst_tensor;
    EXPECT_EQ(worst.weight, 0);
}

// An update in the backward pass is the one that would come after it, be it of one micro-batch or of the last of
// several: not one bit may differ.
class OptimizerInBackward : public ::testing::TestWithParam<std::vector<std::string>> { };

TEST_P(OptimizerInBackward, IsBitwiseEqualToOneAfterIt)
{
    const TemporaryFolder folder;
    const auto tokens = write_tokens(folder.path());
    const auto run = [&](const char* value) {
        return run_job(tiny_plan(tokens,
                           joined(GetParam(),
                               {"gpus=2", "layout.dp=2", "run.clip_norm=0", "run.watch.not_finite=\"stop\"",
                                   "run.steps=4", std::string("training.optimizer_in_backward=") + value})),
            folder.path() / value);
    };
    const JobResult after = run("false"), within = run("true");
    ASSERT_EQ(after.problem + within.problem, "");
    const auto worst = compare(within.dumps, after.dumps[0]);
    ASSERT_EQ(worst.problem, "");
    EXPECT_EQ(worst.loss, 0);
    EXPECT_EQ(worst.gradient, 0) << worst.worst_tensor;
    EXPECT_EQ(worst.weight, 0);
    // And the weights moved: the losses of a model that stands still would be equal too.
    EXPECT_NE(within.dumps[0].losses.front(), within.dumps[0].losses.back());
}

INSTANTIATE_TEST_SUITE_P(Shardings, OptimizerInBackward,
    ::testing::Values(std::vector<std::string>{"training.sharding=\"none\""},
        std::vector<std::string>{"training.sharding=\"optimizer\"", "training.global_batch=4"},
        std::vector<std::string>{"training.sharding=\"parameters\""},
        std::vector<std::string>{"training.sharding=\"parameters\"", "training.global_batch=4"}));

// A message from the wrong pipeline rank never comes: the job ends with the error instead of a wrong result.
TEST(WrongPartner, EndsTheJob)
{
    const TemporaryFolder folder;
    const auto plan
        = tiny_plan(write_tokens(folder.path()), {"gpus=4", "layout.pp=4", "model.num_hidden_layers=4", "run.steps=1"});
    const auto job
        = run_job(plan, folder.path() / "run", {"--corrupt", "pp.wrong_peer"}, {{"FOURFOLD_TIMEOUT_S", "8"}});
    EXPECT_LT(job.dumps.size(), 4u);
    EXPECT_NE(job.problem, "");
}

// Mixed precision follows fp32 closely, and a mesh of it follows its one rank as closely as its bits allow.
struct Mixed {
    const char* precision;
    double loss, gradient; // bounds
};
class MixedPrecision : public ::testing::TestWithParam<Mixed> { };

TEST_P(MixedPrecision, FollowsFp32)
{
    const auto [precision, loss, gradient] = GetParam();
    const TemporaryFolder folder;
    const auto tokens = write_tokens(folder.path());
    const std::vector<std::string> wide{kEveryPrecision, "model.hidden_size=64", "model.intermediate_size=96"};
    const auto mixed = joined(wide, {"training.precision=\"" + std::string(precision) + "\""});
    const auto exact
        = run_job(tiny_plan(tokens, joined(wide, {"training.precision=\"fp32\""})), folder.path() / "fp32").dumps;
    const auto one = run_job(tiny_plan(tokens, mixed), folder.path() / "one").dumps;
    const auto many
        = run_job(tiny_plan(tokens, joined(mixed, {"gpus=4", "layout.tp=2", "layout.dp=2"})), folder.path() / "many")
              .dumps;
    ASSERT_TRUE(exact.size() == 1 && one.size() == 1 && many.size() == 4);
    EXPECT_NE(one[0].losses, exact[0].losses) << "it must not be fp32 in disguise";
    for (const auto* dump : {&one[0], &many[0]}) {
        const auto worst = compare({*dump}, exact[0]);
        EXPECT_LT(worst.loss, loss);
        EXPECT_LT(worst.gradient, gradient) << worst.worst_tensor;
    }
    EXPECT_EQ(many[0].losses, many[3].losses);
}

INSTANTIATE_TEST_SUITE_P(Precisions, MixedPrecision,
    ::testing::Values(Mixed{"bf16", 5e-3, 0.05}, Mixed{"fp16", 1e-3, 0.01}, Mixed{"fp8", 5e-2, 0.3}),
    [](const auto& info) { return std::string(info.param.precision); });

// Gradients in bf16 are added up and sent as such: half the bytes, and as close as 8 bits allow.
TEST(Gradients, InBf16)
{
    const TemporaryFolder folder;
    const auto tokens = write_tokens(folder.path());
    const std::vector<std::string> dp2{"gpus=2", "layout.dp=2", "run.steps=1"};
    const auto wide = run_job(tiny_plan(tokens, dp2), folder.path() / "wide").dumps;
    const auto narrow
        = run_job(tiny_plan(tokens, joined(dp2, {"training.grad_dtype=\"bf16\""})), folder.path() / "narrow").dumps;
    ASSERT_TRUE(wide.size() == 2 && narrow.size() == 2);
    EXPECT_EQ(narrow[0].bytes.at("dp").at("all_reduce") * 2, wide[0].bytes.at("dp").at("all_reduce"));
    const auto worst = compare({narrow[0]}, wide[0]);
    EXPECT_EQ(worst.loss, 0);
    EXPECT_GT(worst.gradient, 1e-5);
    EXPECT_LT(worst.gradient, 2e-2) << worst.worst_tensor;
    for (const auto& [name, tensor] : narrow[0].tensors)
        for (const double value : tensor.gradient) {
            int exponent = 0;
            const double mantissa = std::ldexp(std::frexp(value, &exponent), 8);
            ASSERT_EQ(mantissa, std::nearbyint(mantissa)) << name << ": " << value << " has more than 8 bits";
        }
    EXPECT_EQ(narrow[0].tensors.at("model.norm.weight").gradient, narrow[1].tensors.at("model.norm.weight").gradient);
}

// The comparison notices a wrong collective, whichever it is.
class NegativeControl : public ::testing::TestWithParam<Sabotage> { };

TEST_P(NegativeControl, IsNoticed)
{
    const Sabotage& sabotage = GetParam();
    const Case wrong = of_steps({sabotage.name, sabotage.mesh, sabotage.model}, 1); // whose gradients are compared
    const auto worst = compare_with_one_rank(wrong, {"--fp64"}, {"--fp64", "--corrupt", sabotage.fault});
    ASSERT_EQ(worst.problem, "");
    EXPECT_GT(worst.gradient, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Collectives, NegativeControl, ::testing::ValuesIn(all_sabotages()),
    [](const auto& info) { return info.param.name; });

// What the ring sends is what the planner counts: the payload of each collective, per step.
TEST(Traffic, MatchesTheFormulas)
{
    const TemporaryFolder folder;
    const auto plan = tiny_plan(write_tokens(folder.path()), {"gpus=4", "layout.tp=2", "layout.dp=2", "run.steps=1"});
    const auto dumps = run_job(plan, folder.path() / "run").dumps;
    ASSERT_EQ(dumps.size(), 4u);
    constexpr int64_t kTokens = 16 * 2, kHidden = 32, kLayers = 2, kFp32 = 4, kMicroBatches = 2, kEvalMicroBatches = 4;
    const int64_t activation = kTokens * kHidden * kFp32;
    // Forward: gather before attention, MLP and head; scatter behind the embedding, attention and MLP. Backward: what
    // undoes these, and each layer's two inputs once more for the weight gradients.
    const int64_t forward = 2 * kLayers + 1, backward = forward, again = 2 * kLayers;
    EXPECT_EQ(dumps[0].bytes.at("tp").at("all_gather"),
        activation * (kMicroBatches * (forward + backward + again) + kEvalMicroBatches * forward));
    EXPECT_EQ(dumps[0].bytes.at("tp").at("reduce_scatter"),
        activation * (kMicroBatches * (forward + backward) + kEvalMicroBatches * forward));
    int64_t elements = 0; // of rank 0's shards; the tiny model's buckets need no padding
    for (const auto& [name, tensor] : dumps[0].tensors)
        elements += int64_t(tensor.gradient.size());
    EXPECT_EQ(dumps[0].bytes.at("dp").at("all_reduce"), elements * kFp32);
}

} // namespace
} // namespace fourfold::testing
