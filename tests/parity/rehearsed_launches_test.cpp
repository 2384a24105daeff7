// SPDX-License-Identifier: GPL-3.0-or-later
// The launches of experts and of products in 8 bits that the planner counts (core/program/own_launches.h) beside those
// that rehearsed ranks make.
#include "core/program/own_launches.h"
#include "runner/trainer/rehearsal/rehearse_rank.h"
#include "tests/parity/compare.h"
#include "tests/parity/tiny_plans.h"

#include <gtest/gtest.h>

namespace fourfold::trainer {
namespace {

using fourfold::testing::joined;
using Settings = std::vector<std::string>;

ResolvedPlan plan_of_launches(int layers, int micro_batches, const Settings& more)
{
    const fourfold::testing::TemporaryFolder folder; // its tokens are not read
    const Settings settings{
        R"(model={"model_type":"llama","vocab_size":4096,"tie_word_embeddings":false,"hidden_size":512,)"
        R"("num_attention_heads":8,"num_key_value_heads":2,"intermediate_size":1536,"max_position_embeddings":2048})",
        "model.num_hidden_layers=" + std::to_string(layers), "cluster=\"dgx-h100\"", "training.seq_len=1024",
        "training.micro_batch=1", "training.global_batch=" + std::to_string(micro_batches),
        "training.precision=\"bf16\""};
    return fourfold::testing::tiny_plan(fourfold::testing::write_tokens(folder.path()), joined(settings, more));
}

// Of one layer and micro-batch: what a step has once is gone from the difference of differences.
double launches_of_a_pass(const Settings& more)
{
    const auto launches = [&more](int layers, int micro_batches) {
        const auto found = rehearse_rank(plan_of_launches(layers, micro_batches, more), 0);
        EXPECT_TRUE(found) << found.error().line();
        return found ? double(found->work.launches) : 0;
    };
    return (launches(3, 4) - launches(2, 4) - launches(3, 2) + launches(2, 2)) / 2;
}

Launches launches_of_a_layer(const Settings& more)
{
    const double once = launches_of_a_pass(more),
                 again = launches_of_a_pass(joined(more, {"training.recompute=\"full\""}));
    return {again - once, once - (again - once)};
}

Settings with_experts(int count)
{
    return {"model.model_type=\"mixtral\"", "model.num_local_experts=" + std::to_string(count),
        "model.num_experts_per_tok=2"};
}
Settings in_fp8(const std::string& recipe)
{
    return {"training.precision=\"fp8\"", "training.fp8_recipe=\"" + recipe + "\""};
}

class RehearsedLaunches : public ::testing::TestWithParam<Settings> { };

TEST_P(RehearsedLaunches, AreThoseThatThePlannerCounts)
{
    const Launches found = launches_of_a_layer(GetParam()), dense = launches_of_a_layer({});
    const ResolvedPlan plan = plan_of_launches(2, 2, GetParam());
    const Launches planned = own_launches(plan, rank_shape(plan), plan.model.experts.has_value());
    // How many rows each expert has decides whether there are rows of zeros behind them.
    EXPECT_NEAR(planned.forward, found.forward - dense.forward, 2 + 0.03 * found.forward);
    EXPECT_NEAR(planned.backward, found.backward - dense.backward, 2 + 0.03 * found.backward);
    EXPECT_GT(planned.forward, 0);
}

INSTANTIATE_TEST_SUITE_P(Plans, RehearsedLaunches,
    ::testing::Values(in_fp8("tensorwise"), in_fp8("rowwise"), in_fp8("blockwise"), with_experts(4), with_experts(8),
        joined(with_experts(4), in_fp8("tensorwise")), joined(with_experts(8), in_fp8("rowwise")),
        joined(with_experts(4), in_fp8("blockwise")), joined(in_fp8("mxfp8"), {"cluster=\"dgx-b200\""}),
        joined(joined(with_experts(8), in_fp8("mxfp8")), {"cluster=\"dgx-b200\""})));

} // namespace
} // namespace fourfold::trainer
