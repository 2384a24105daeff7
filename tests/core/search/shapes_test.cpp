// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/shapes.h"

#include "core/cost/prices.h"
#include "core/predict/shape_rules.h"
#include "tests/core/search/search_plans.h"

#include <gmock/gmock.h>

namespace fourfold {
namespace {

using testing::Contains;
using testing::HasSubstr;

ResolvedPlan bloom()
{
    ResolvedPlan plan = search_plan("bloom-176b", "jean-zay-a100", 384, 2048, "megatron-deepspeed");
    plan.layout.tp = 8;
    plan.layout.pp = 6;
    plan.layout.dp = 8;
    plan.layout.dp_shard = 8;
    plan.training.micro_batch = 4;
    plan.training.micro_batches = 64;
    plan.training.recompute = Recompute::full;
    return *with_shape(plan, 72, 14336, 64);
}

TEST(Shapes, ProportionsGoAlong)
{
    const ResolvedPlan llama = search_plan("llama-3.1-8b", "dgx-h100", 16, 64);
    const auto same = with_shape(llama, 32, 4096, 32);
    ASSERT_TRUE(same);
    EXPECT_EQ(same->model.parameters(), llama.model.parameters());
    const auto wide = with_shape(llama, 20, 5120, 40);
    ASSERT_TRUE(wide);
    EXPECT_EQ(wide->model.kv_heads, 10);
    EXPECT_EQ(wide->model.head_dim, 128);
    EXPECT_EQ(wide->model.ffn, 17920); // 3.5 x 5120
    const ResolvedPlan four = bloom();
    EXPECT_EQ(four.model.ffn, 4 * 14336);
    EXPECT_EQ(four.layout.stage_layers, std::vector<int>(6, 12));
    EXPECT_FALSE(with_shape(llama, 32, 4096, 30));
    EXPECT_FALSE(with_shape(search_plan("deepseek-v3", "dgx-h100", 64, 64), 10, 4096, 32));
}

TEST(Shapes, FastestAtEqualSizeFirst)
{
    ShapeRequest request;
    request.search = small_request();
    request.space.parameters = 8e9;
    request.space.tolerance = 0.05;
    request.space.hidden = {3840, 4096, 4608};
    request.threads = 2;
    const ShapeResult result = search_shapes(request);
    ASSERT_GT(result.shapes.size(), 3u);
    EXPECT_EQ(result.tried, std::int64_t(result.shapes.size()) + result.broken_rules);
    double last = 0;
    for (const FoundShape& shape : result.shapes) {
        EXPECT_NEAR(shape.parameters / 8e9, 1, 0.05);
        const Prediction alone = predict(shape.plan);
        // A second on so many GPUs trains tps tokens each; a larger model is to take as much longer as it is larger.
        EXPECT_NEAR(shape.gpu_seconds, 1e6 / *alone.tps_per_gpu * 8e9 / shape.plan.model.parameters(), 1e-6);
        if (shape.fit == Fit::no)
            continue;
        EXPECT_GE(shape.gpu_seconds, last);
        last = shape.gpu_seconds;
        EXPECT_NEAR(shape.loss, 1 - result.shapes.front().gpu_seconds / shape.gpu_seconds, 1e-12);
    }
}

TEST(Shapes, WithTheBestLayoutOfEach)
{
    ShapeRequest request;
    request.search = small_request();
    request.search.space.gpus = {8};
    request.search.space.recompute = {Recompute::none};
    request.space.layers = {32};
    request.space.hidden = {4096};
    request.space.heads = {32};
    request.vary_layout = true;
    const ShapeResult result = search_shapes(request);
    ASSERT_EQ(result.shapes.size(), 1u);
    request.search.top = 1;
    const SearchResult layouts = search(request.search);
    EXPECT_NEAR(result.shapes.front().step_time_s, layouts.best.front().figures.step_time_s, 1e-9);
}

TEST(Shapes, ReasonsNameWhatIsWasted)
{
    const ResolvedPlan good = bloom();
    const ShapeWaste fine = waste_of(predict(good));
    EXPECT_THAT(fine.reasons, testing::Not(Contains(HasSubstr("multiple of 8:"))));
    const ShapeWaste odd = waste_of(predict(*with_shape(good, 80 / 8 * 6, 14400, 96))); // 14400 / 96 = 150
    EXPECT_THAT(odd.reasons, Contains("head dimension 150 is not a multiple of 8: no tensor cores"));
    EXPECT_THAT(odd.reasons, Contains("hidden 14400 is not a multiple of 128 x tp = 1024"));
    const ShapeWaste uneven = waste_of(predict(*with_shape(good, 72, 14336, 128))); // 14336 / 128 = 112
    EXPECT_THAT(uneven.reasons, Contains("head dimension 112 is not a multiple of 64"));
    EXPECT_GT(odd.attention, fine.attention);
}

TEST(Shapes, WasteIsAWeightedMeanOverTheProducts)
{
    const Prediction prediction = predict(bloom());
    const int multiprocessors = prediction.plan.cluster.gpu.multiprocessors;
    double lost = 0, all = 0;
    for (const PricedOperation& priced : prediction.operations) {
        const Gemm* product = priced.operation.as<Gemm>();
        if (product == nullptr || priced.operation.phase == Phase::step)
            continue;
        const double seconds = priced.seconds * priced.operation.repeat;
        const double used = tile_and_wave_utilisation(product->m, product->n, product->batch, multiprocessors);
        const double filled = tile_and_wave_utilisation(product->m, product->n, product->batch, 1);
        lost += seconds * ((1 - filled) + (1 - used / filled));
        all += seconds;
    }
    const ShapeWaste waste = waste_of(prediction);
    EXPECT_NEAR(waste.tiles + waste.waves, lost / all, 1e-12);
}

TEST(ShapeRules, FusedSoftmax)
{
    ResolvedPlan plan = bloom();
    plan.training.attention = AttentionKernel::fused_softmax;
    struct Case {
        int heads, tp, micro_batch;
        bool fits;
    };
    for (const Case& c : {Case{112, 8, 1, false}, {112, 8, 2, true}, {64, 8, 1, true}, {64, 16, 1, true},
             {40, 8, 1, false}, {40, 8, 4, true}, {48, 8, 2, true}, {48, 8, 1, false}}) {
        plan.model.heads = c.heads;
        plan.layout.tp = c.tp;
        plan.training.micro_batch = c.micro_batch;
        EXPECT_EQ(fused_softmax_fits(plan), c.fits) << c.heads << "/" << c.tp << "*" << c.micro_batch;
        EXPECT_EQ(shape_warnings(plan).empty(), c.fits);
        PlanValues values{};
        fill_layout(values, plan);
        EXPECT_EQ(constraint("fused_softmax").holds(values), c.fits);
        EXPECT_EQ(constraint("(heads / tp) * micro_batch % 4 == 0").holds(values), c.fits);
    }
    plan.training.attention = AttentionKernel::flash2; // another kernel
    EXPECT_TRUE(shape_warnings(plan).empty());
}

} // namespace
} // namespace fourfold
