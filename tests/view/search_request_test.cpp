// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/search/search_job.h"
#include "tests/core/search/search_plans.h"

#include <gmock/gmock.h>

namespace fourfold {
namespace {

// Neither window nor terminal can be told what failures depend on: what comes first would do so by chance.
TEST(SearchRequest, RefusesFiguresThatAreNotKnown)
{
    ResolvedPlan plan = search_plan("llama-3.1-8b", "dgx-h100", 16, 64);
    EXPECT_TRUE(view::search_request(plan, {16}, "cost", {})); // GPU-hours
    const auto goodput = view::search_request(plan, {16}, "tps_per_gpu", constraint("goodput > 0.9"));
    ASSERT_FALSE(goodput);
    EXPECT_THAT(goodput.error().line(), testing::StartsWith("constraint: \"goodput\" is not known without"));
    plan.cluster.gpu.power_w = 0;
    const auto energy = view::search_request(plan, {16}, "energy_mwh", {});
    ASSERT_FALSE(energy);
    EXPECT_THAT(energy.error().line(), testing::StartsWith("objective: \"energy_mwh\" is not known without"));
}

} // namespace
} // namespace fourfold
