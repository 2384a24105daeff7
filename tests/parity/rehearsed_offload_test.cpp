// SPDX-License-Identifier: GPL-3.0-or-later
// What is offloaded takes no memory of the device, as the planner counts it, and what goes to the host and comes back
// is what the planner prices.
#include "core/memory/replay.h"
#include "core/plan/plan_constants.h"
#include "core/plan/plan_schedule.h"
#include "core/program/build.h"
#include "runner/trainer/rehearsal/rehearse.h"
#include "runner/trainer/rehearsal/rehearse_rank.h"
#include "tests/parity/compare.h"
#include "tests/parity/tiny_plans.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fourfold::trainer {
namespace {

using fourfold::testing::Case;
using fourfold::testing::joined;

ResolvedPlan plan_with(const Case& wanted, const std::vector<std::string>& more)
{
    const fourfold::testing::TemporaryFolder folder; // its tokens are not read
    return fourfold::testing::tiny_plan(fourfold::testing::write_tokens(folder.path()),
        joined(joined(wanted.model, wanted.mesh),
            joined(
                {"cluster=\"dgx-h100\"", "training.precision=\"bf16\"", "training.seq_len=1024",
                    "model.max_position_embeddings=1024", "training.micro_batch=1", "training.global_batch=4",
                    "model.hidden_size=1024", "model.intermediate_size=2816", "model.num_attention_heads=8",
                    "model.num_key_value_heads=4", "model.vocab_size=512", "layout.pp=3", "model.num_hidden_layers=24"},
                more)));
}

std::string offload(const char* what)
{
    return std::string("training.offload=\"") + what + '"';
}

// The stage that is looked at: neither embedding nor head are on it.
constexpr int kStage = 1;

// What the planner has of it: its peak, that of its activations, and the bytes that a step moves to the host and back.
struct Planned {
    double peak = 0, activations = 0, moved = 0;
};

Planned planned(const ResolvedPlan& plan)
{
    const auto schedule = plan_schedule(plan, plan.training.micro_batches);
    EXPECT_TRUE(schedule) << schedule.error().line();
    const StageProgram stage = build_program(plan, schedule->stage_of_chunk).at(kStage);
    const MemoryPeak peak = replay_memory(stage, schedule->actions.at(kStage));
    Planned sum{peak.total(), peak.bytes[std::size_t(MemoryKind::activations)], 0};
    const auto add = [&](const std::vector<Operation>& operations, double times) {
        for (const Operation& operation : operations)
            if (const auto* host = std::get_if<HostCost>(&operation.work);
                host != nullptr && host->constant == Constant::host_transfer_s_per_gb)
                sum.moved += operation.repeat * times * host->times * 1e9;
    };
    for (const ChunkProgram& chunk : stage.chunks)
        add(chunk.operations, plan.training.micro_batches);
    add(stage.step_operations, 1);
    return sum;
}

RankRehearsal rehearsed(const ResolvedPlan& plan)
{
    int rank = 0;
    while (plan.layout.coordinates(rank).pp != kStage)
        ++rank;
    auto rehearsed = rehearse_rank(plan, rank);
    EXPECT_TRUE(rehearsed) << rehearsed.error().line();
    EXPECT_EQ(rehearsed->misused, "");
    return *std::move(rehearsed);
}

class Offloaded : public ::testing::TestWithParam<Case> { };

TEST_P(Offloaded, ActivationsAreWhereThePlannerCountsThem)
{
    const std::string gpipe = "training.schedule=\"gpipe\"";
    const ResolvedPlan here = plan_with(GetParam(), {gpipe}),
                       away = plan_with(GetParam(), {gpipe, offload("activations")}),
                       many = plan_with(GetParam(), {gpipe, offload("activations"), "training.global_batch=8"}),
                       more = plan_with(GetParam(), {gpipe, offload("activations"), "training.global_batch=12"});
    const RankRehearsal with = rehearsed(here), without = rehearsed(away);
    const Planned plan_with_all = planned(here), plan_without = planned(away);
    EXPECT_EQ(with.work.host_bytes, 0);
    // Beside what the planner counts lie norms' factors and attention's log-sums.
    constexpr double kBeside = 0.05;
    const double saved = plan_with_all.peak - plan_without.peak;
    // Another micro-batch in flight takes the input of its first layer and the output of its last, which nobody knows
    // to have arrived before the first gradient comes: of many micro-batches, most is held then.
    const double further = more.training.micro_batches - many.training.micro_batches;
    const double each = (planned(more).peak - planned(many).peak) / further;
    // Where layers are computed again, most is held in a backward pass: its gradient shows that all outputs have
    // arrived, which the planner leaves out.
    const double held = away.training.recompute == Recompute::full ? each / 2 : each;
    EXPECT_NEAR(double(rehearsed(more).requested - rehearsed(many).requested) / further, held, kBeside * each);
    const double input = each / 2; // of a layer
    EXPECT_GT(saved, 0.2 * plan_with_all.activations);
    EXPECT_NEAR(double(with.requested) - double(without.requested), saved, kBeside * saved + input);
    // The planner does not know that the first layer's input stays.
    const double stays = 2 * away.training.micro_batches * input;
    EXPECT_LE(without.work.host_bytes, (1 + kBeside) * plan_without.moved);
    EXPECT_GE(without.work.host_bytes, (1 - kBeside) * plan_without.moved - stays);
}

TEST_P(Offloaded, StatesAreWhereThePlannerCountsThem)
{
    const ResolvedPlan here = plan_with(GetParam(), {}), away = plan_with(GetParam(), {offload("optimizer")});
    const RankRehearsal with = rehearsed(here), without = rehearsed(away);
    const double saved = planned(here).peak - planned(away).peak;
    constexpr double kBeside = 0.05;
    EXPECT_GT(saved, 0);
    EXPECT_NEAR(double(with.requested) - double(without.requested), saved, kBeside * saved);
    EXPECT_NEAR(without.work.host_bytes, planned(away).moved, 0.01 * planned(away).moved);
}

const Case kOffloading[] = {
    {"alone", {"gpus=3"}, {}},
    {"tp2", {"gpus=6", "layout.tp=2"}, {}},
    {"dp2_fsdp_recompute", {"gpus=6", "layout.dp=2", "training.sharding=\"parameters\"", "training.recompute=\"full\""},
        {}},
};
INSTANTIATE_TEST_SUITE_P(
    Plans, Offloaded, ::testing::ValuesIn(kOffloading), [](const auto& info) { return info.param.name; });

// A job of one GPU, whose link to the host takes so many seconds for 10^9 bytes.
ResolvedPlan with_link(const std::string& more, double s_per_gb)
{
    ResolvedPlan plan = plan_with({"link", {"gpus=1"}, {}}, {"layout.pp=1", "model.num_hidden_layers=8", more});
    plan.stack.constants["host_transfer_s_per_gb"] = s_per_gb;
    for (const char* of_host : {"layer_floor_forward_s", "layer_floor_backward_s", "micro_batch_overhead_s"})
        plan.stack.constants[of_host] = 0; // launches of so small a model would take longer than its kernels
    return plan;
}

double rehearsed_step_s(const ResolvedPlan& plan)
{
    const auto said = rehearse(plan, {});
    EXPECT_TRUE(said) << said.error().line();
    EXPECT_EQ((*said)["verdict"], "ok") << said->dump();
    return (*said)["step_time_s"].get<double>();
}

// Copies run beside the computation, one way at a time: they cost nothing where there is time enough, and all of it
// where there is none. With micro-batches that are played from a tape too.
TEST(OffloadedTime, CopiesHideBehindTheComputation)
{
    const double here = rehearsed_step_s(with_link(offload("none"), 1));
    const auto away = [&](double s_per_gb) { return rehearsed_step_s(with_link(offload("activations"), s_per_gb)); };
    const double moved = rehearse_rank(with_link(offload("activations"), 1), 0)->work.host_bytes / 1e9;
    EXPECT_NEAR(away(0), here, 1e-6 * here);
    EXPECT_NEAR(away(0.25 * here / moved), here, 0.01 * here); // as fast as it takes to hide
    // As long as the step: the forward pass is too short for its half of the copies.
    EXPECT_GT(away(here / moved), 1.05 * here);
    EXPECT_LT(away(here / moved), 1.9 * here);
    const double slow = 100 * here / moved; // forward all goes, then all comes
    EXPECT_GT(away(slow), 0.9 * slow * moved);
    EXPECT_LT(away(slow), slow * moved + here);
}

// Gradients go and weights come bucket by bucket while the host updates others: no less than the longest of the three,
// no more than the planner, which takes one after the other.
TEST(OffloadedTime, TheHostsUpdateIsBesideTheCopies)
{
    for (const double s_per_gb : {0.01, 0.04, 0.4}) {
        const ResolvedPlan plan = with_link(offload("optimizer"), s_per_gb);
        const double here = rehearsed_step_s(with_link(offload("none"), s_per_gb)), away = rehearsed_step_s(plan);
        const RankRehearsal rank = *rehearse_rank(plan, 0);
        const double copies = rank.work.host_bytes / 1e9 * s_per_gb;
        const Constants constants = constants_of(plan);
        const double update = plan.model.parameters() * constants[Constant::optimizer_shard_bytes] / 1e9
            * constants[Constant::host_update_s_per_gb];
        const double of_device = plan.model.parameters() * constants[Constant::optimizer_shard_bytes]
            / (plan.cluster.gpu.memory_bandwidth_gb_s * 1e9); // what the device updates no more
        EXPECT_LT(away, here + copies + update);
        EXPECT_GT(away, here - 2 * of_device + std::max(update, copies * 2 / 3)) << s_per_gb; // four bytes go, two come
        EXPECT_LT(away, here + 1.1 * std::max(update + copies / 4, copies)) << s_per_gb;
    }
}

} // namespace
} // namespace fourfold::trainer
