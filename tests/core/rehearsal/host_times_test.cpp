// SPDX-License-Identifier: GPL-3.0-or-later
// What a rehearsal adds for the host is what the planner adds to the same passes.
#include "core/rehearsal/host_times.h"

#include "core/cost/passes.h"
#include "core/plan/presets.h"
#include "core/program/operation.h"
#include "core/rehearsal/rehearsal_prices.h"

#include <gtest/gtest.h>

namespace fourfold {
namespace {

constexpr int kMiddle = 1; // of three stages: a chunk of layers alone

ResolvedPlan plan_with(const std::vector<std::string>& assignments)
{
    Plan plan = *parse_plan(R"({"fourfold_plan": 1, "model": "llama-3.2-1b", "cluster": "dgx-h100", "gpus": 3,
        "stack": "fourfold", "layout": {"pp": 3, "stage_layers": [5, 6, 5]},
        "training": {"seq_len": 256, "micro_batch": 1, "global_batch": 6}})",
        "host.plan.json");
    for (const std::string& assignment : assignments)
        plan = *with_assignment(plan, assignment);
    return *resolve(plan, Presets());
}

// Of a micro-batch on the middle stage: with the host, and without it.
struct Planned {
    ChunkTime whole, device;
};
Planned planned(const ResolvedPlan& plan)
{
    const CostContext context(plan);
    ChunkProgram chunk = build_program(plan, {0, 1, 2}).at(kMiddle).chunks.at(0);
    Planned times{chunk_time(chunk, context), {}};
    std::erase_if(chunk.operations, [](const Operation& operation) { return operation.is<HostCost>(); });
    times.device = chunk_time(chunk, context);
    return times;
}

TEST(HostTimes, AreThePlanners)
{
    for (const char* recompute : {"none", "full"}) {
        const ResolvedPlan plan = plan_with({std::string("training.recompute=\"") + recompute + '"'});
        const HostTimes host(plan, {0, 1, 2});
        const auto [whole, device] = planned(plan);
        const double forward_s = device.forward.seconds(), backward_s = device.backward.seconds();
        const double forward = host.beyond({ActionKind::forward, 0, kMiddle}, forward_s),
                     backward = host.beyond({ActionKind::backward, 0, kMiddle}, backward_s);
        EXPECT_NEAR(forward, whole.forward.seconds() - forward_s, 1e-9) << recompute;
        EXPECT_NEAR(backward, whole.backward.seconds() - backward_s, 1e-9) << recompute;
        EXPECT_GT(forward, 0.1 * forward_s) << "short sequences are bound by their launches";
        // Two halves, each of half as much work.
        EXPECT_NEAR(host.beyond({ActionKind::input_gradient, 0, kMiddle}, backward_s / 2)
                + host.beyond({ActionKind::weight_gradient, 0, kMiddle}, backward_s / 2),
            backward, 1e-9);
        EXPECT_GT(host.of_step(), 0);
    }
    // Long sequences are not.
    const ResolvedPlan plan = plan_with({"training.seq_len=16384"});
    const double device_s = planned(plan).device.forward.seconds();
    EXPECT_LT(HostTimes(plan, {0, 1, 2}).beyond({ActionKind::forward, 0, kMiddle}, device_s), 0.01 * device_s);
}

// Both products of attention in memory together are the planner's attention, heads that no kernel likes included.
TEST(RehearsalPrices, BatchedProductsAreThoseOfAttentionInMemory)
{
    const ResolvedPlan plan = plan_with({});
    const RehearsalPrices prices(plan);
    const CostContext context(plan);
    const double tokens = 2048, heads = 32;
    double aligned = 0;
    for (const double width : {128.0, 150.0}) {
        const Gemm scores{.m = tokens, .n = tokens, .k = width, .batch = heads},
            values{.m = tokens, .n = width, .k = tokens, .batch = heads};
        const Attention attention{
            .queries = tokens, .keys = tokens, .head_dim = width, .batch = heads, .causal = false, .fused = false};
        const double both = prices.product(scores) + prices.product(values);
        EXPECT_NEAR(both, price({.work = attention}, context).seconds, 1e-9 * both);
        EXPECT_GT(both, 2 * aligned) << width;
        aligned = both;
    }
    // Muon's iteration has wide matrices in batches.
    const Gemm wide{.m = tokens, .n = tokens, .k = tokens, .batch = heads};
    EXPECT_EQ(prices.product(wide), price({.work = wide}, context).seconds);
}

} // namespace
} // namespace fourfold
