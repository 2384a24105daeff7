// SPDX-License-Identifier: GPL-3.0-or-later
// No answer beats the hardware, whatever the constants: held against a second, naive roofline made of the plan alone.
#include "core/cost/roofline.h"
#include "core/model/flops.h"
#include "core/predict/interval.h"
#include "core/predict/prediction.h"
#include "core/stack/constants.h"
#include "tests/core/predict/random_plans.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fourfold::test {
namespace {

// Of a dense model: FLOPs of the layers of each stage and of the head over the peak, gradients once out of each node;
// the last stage waits for the first micro-batch, and the first for the last one's way back.
double naive_roofline(const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    const Gpu& gpu = plan.cluster.gpu;
    const double tokens = double(plan.training.micro_batch) * plan.training.seq_len;
    const double head = 6 * double(plan.model.hidden) * double(plan.model.vocab);
    const double layer = (model_flops_per_token(plan.model, plan.training.seq_len, true) - head) / plan.model.layers;
    const double full
        = layer * (plan.training.recompute == Recompute::full && !plan.training.recompute_layers ? 4 : 3) / 3;
    double rate = gpu.peak_flops(plan.training.precision) * layout.tp * layout.cp;
    if (gpu.is_cpu())
        rate *= 4; // a rank may have four cores of its own
    std::vector<double> work(std::size_t(layout.pp), 0); // of one micro-batch on a stage
    double whole = 0;
    const std::size_t chunks = layout.stage_layers.size(), stages = work.size();
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        double flops = layout.stage_layers[chunk] * full + (chunk + 1 == chunks ? head : 0);
        work[chunk % stages] += flops * tokens / rate;
        whole += flops * tokens / rate;
    }
    const double micro_batches = plan.training.micro_batches;
    double least = 0;
    for (std::size_t stage = 0; stage < stages; ++stage)
        least = std::max(least, micro_batches * work[stage]);
    // Without virtual stages the last one is idle while the first micro-batch comes and the last gradient goes.
    if (layout.virtual_stages == 1 && plan.training.schedule_csv.empty())
        least = std::max(least, whole + (micro_batches - 1) * work.back());
    // A ring or tree over nodes brings the reduced gradients of a node into it at least once.
    const double nodes = plan.nodes();
    if (plan.training.sharding == Sharding::none && nodes > 1 && layout.dp == plan.gpus && !gpu.is_cpu())
        least = std::max(least,
            plan.model.parameters() * bytes_per_element(plan.training.grad_dtype) * (nodes - 1) / nodes
                / (plan.cluster.inter_node.bandwidth_gb_s * 1e9 * plan.cluster.gpus_per_node));
    return least;
}

bool comparable(const ResolvedPlan& plan)
{
    // Random plans have odd layouts of experts; a head may be shared out, products of fp8 leave it out.
    return !plan.model.experts && plan.training.attention != AttentionKernel::unfused;
}

// As fast as constants can be: every efficiency 1, everything hidden, no latency, nothing fixed.
ResolvedPlan with_best_constants(ResolvedPlan plan)
{
    plan.stack.constants.clear();
    plan.stack.gpu_constants.clear();
    for (const ConstantInfo& constant : kConstantTable) {
        const std::string name(constant.name);
        const bool gain = constant.unit == "ratio" || constant.id == Constant::one || is_efficiency(constant);
        plan.stack.constants[name] = gain ? 100 : 0;
    }
    for (const Constant smaller :
        {Constant::overlap_slowdown, Constant::attention_context_loss, Constant::pipeline_transfer_scale,
            Constant::gradient_scale, Constant::fsdp_pipeline_scale, Constant::replica_slowdown,
            Constant::wide_replica_slowdown, Constant::straggler_spread, Constant::allocator_pressure})
        plan.stack.constants[std::string(info(smaller).name)] = 0;
    for (const Constant exact : {Constant::one, Constant::layer_floor_power, Constant::gradient_overlap,
             Constant::weight_memory_scale, Constant::fragmentation})
        plan.stack.constants[std::string(info(exact).name)] = 1;
    return plan;
}

TEST(Roofline, NoPlanIsFasterThanANaiveOne)
{
    int held = 0;
    for (const ResolvedPlan& plan : random_valid_plans(400, 23)) {
        if (!comparable(plan))
            continue;
        const Prediction p = predict(plan);
        SCOPED_TRACE(to_json(plan, PresetStyle::ids).dump());
        ASSERT_TRUE(p.step_time_s);
        const double naive = naive_roofline(plan);
        EXPECT_GE(*p.step_time_s, p.least.step_s * (1 - 1e-9));
        EXPECT_GE(p.least.step_s, naive * (1 - 1e-6)) << "the bound has at least what a naive one has";
        if (p.interval) {
            EXPECT_GE(p.interval->step_time_s.low, naive * (1 - 1e-6));
        }
        ++held;
    }
    EXPECT_GT(held, 200);
}

TEST(Roofline, ConstantsWithoutLossGiveTheBoundAndSaySo)
{
    int reached = 0;
    for (const ResolvedPlan& plan : random_valid_plans(300, 29)) {
        const ResolvedPlan best = with_best_constants(plan);
        const Prediction p = predict(best);
        SCOPED_TRACE(to_json(plan, PresetStyle::ids).dump());
        ASSERT_TRUE(p.step_time_s);
        EXPECT_GE(*p.step_time_s, p.least.step_s * (1 - 1e-9));
        if (comparable(plan)) {
            EXPECT_GE(*p.step_time_s, naive_roofline(plan) * (1 - 1e-6));
        }
        EXPECT_NEAR(p.time_by_part.total(), *p.step_time_s, 1e-9 * *p.step_time_s);
        if (!p.at_least)
            continue;
        ++reached;
        EXPECT_EQ(p.evidence, Evidence::extrapolated);
        EXPECT_TRUE(std::any_of(p.warnings.begin(), p.warnings.end(),
            [](const std::string& warning) { return warning.find("no run reaches") != std::string::npos; }));
    }
    EXPECT_GT(reached, 20);
}

// Of the peak of its own precision, attention counted half: above what any published run reached nothing is called
// calibrated, with any stack on any cluster.
TEST(Roofline, NoPlanAboveAllPublishedRunsIsCalledCalibrated)
{
    const std::vector<std::string> stacks = source_presets().ids("stacks"), clusters = source_presets().ids("clusters");
    int above = 0, calibrated = 0;
    std::size_t draw = 0;
    for (const ResolvedPlan& plan : random_valid_plans(400, 31)) {
        Json json = to_json(plan, PresetStyle::ids);
        if (draw++ % 4 != 0) { // else what the stack was measured on, more often than by chance
            json["stack"] = stacks[draw % stacks.size()];
            json["cluster"] = clusters[draw / stacks.size() % clusters.size()];
        } else {
            json["stack"] = draw % 8 == 1 ? "megatron-core" : "nanotron";
            json["cluster"] = "dgx-h100";
            json["training"]["attention"] = draw % 8 == 1 ? "cudnn" : "flash2";
        }
        const auto document = plan_from_json(json, "test");
        const auto other = document ? resolve(*document, source_presets()) : Expected<ResolvedPlan>(document.error());
        if (!other || !check(*other).empty())
            continue;
        SCOPED_TRACE(json.dump());
        const Prediction p = predict(*other);
        if (!p.step_time_s)
            continue;
        EXPECT_GE(*p.step_time_s, p.least.step_s * (1 - 1e-9));
        const double used = *p.tps_per_gpu * model_flops_per_token(other->model, other->training.seq_len, true)
            / other->cluster.gpu.peak_flops(other->training.precision);
        above += int(used > kMostUtilisation);
        calibrated += int(p.evidence == Evidence::calibrated);
        if (used > kMostUtilisation) {
            EXPECT_EQ(p.evidence, Evidence::extrapolated) << used;
        }
    }
    EXPECT_GT(calibrated, 5);
}

// A 70B model over 64 GPUs with one sequence each: its gradients need longer through the adapters than its products.
TEST(Roofline, TheNetworkBindsWhereItMust)
{
    const ResolvedPlan plan = resolved(
        {{"model", "llama-3.1-8b"}, {"cluster", "dgx-h100"}, {"gpus", 64}, {"layout", {{"tp", 1}, {"dp", 64}}},
            {"training", {{"seq_len", 128}, {"micro_batch", 1}, {"global_batch", 64}, {"sharding", "none"}}}});
    const Prediction p = predict(with_best_constants(plan));
    EXPECT_EQ(p.least.limit, Limit::network);
    // 8.03e9 parameters, 4 bytes, an eighth of them through each adapter of 50 GB/s, 7 of 8 nodes' sums.
    EXPECT_NEAR(p.least.step_s, 8.03e9 * 4 / 8 * 7 / 8 / 50e9, 0.02 * p.least.step_s);
}

TEST(Roofline, NoShippedEfficiencyIsAboveOne)
{
    for (const std::string& id : source_presets().ids("stacks")) {
        const auto stack = source_presets().stack(id);
        ASSERT_TRUE(stack) << id;
        const auto expect = [&](const std::map<std::string, double>& constants) {
            for (const ConstantInfo& constant : kConstantTable) {
                const auto own = constants.find(std::string(constant.name));
                if (is_efficiency(constant) && own != constants.end()) {
                    EXPECT_LE(own->second, 1) << id << " " << constant.name;
                }
            }
        };
        expect(stack->constants);
        for (const auto& [gpu, constants] : stack->gpu_constants)
            expect(constants);
    }
}

} // namespace
} // namespace fourfold::test
