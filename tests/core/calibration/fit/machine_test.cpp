// SPDX-License-Identifier: GPL-3.0-or-later
// What `fourfold probe --measure` makes of its figures: here of a machine whose constants are known.
#include "core/calibration/user/measured_machine.h"
#include "core/predict/prediction.h"
#include "tests/core/calibration/presets_of_tests.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fourfold {
namespace {

struct Shape {
    int tp, cp, pp, dp, micro_batch, micro_batches;
};

ResolvedPlan plan_of(const Shape& shape)
{
    auto plan = read_plan(test::kPresets / "plans/this-computer.plan.json");
    Json& document = plan->document;
    document["gpus"] = shape.tp * shape.cp * shape.pp * shape.dp;
    document["layout"] = {{"tp", shape.tp}, {"cp", shape.cp}, {"pp", shape.pp}, {"dp", shape.dp}};
    document["training"]["micro_batch"] = shape.micro_batch;
    document["training"]["global_batch"] = shape.micro_batch * shape.micro_batches * shape.dp;
    return *resolve(*plan, test::presets());
}

// Half as fast as shipped at products, with slow messages and a price for each launch.
ResolvedPlan on_other_machine(ResolvedPlan plan)
{
    plan.cluster.gpu.fp32_tflops = 0.1;
    auto& constants = plan.stack.gpu_constants["cpu"];
    constants["gemm_efficiency"] = 0.5;
    constants["layer_floor_power"] = 1;
    constants["layer_floor_forward_s"] = 2e-4;
    constants["layer_floor_backward_s"] = 4e-4;
    constants["collective_latency_s"] = 3e-4;
    constants["gradient_overlap"] = 0;
    return plan;
}

MachineMeasurement measurement(double spread)
{
    MachineMeasurement out;
    out.date = "2026-01-31";
    const auto single = [&](Json figures) {
        figures.update({{"ranks", 1}, {"threads", 1}});
        out.figures.push_back(std::move(figures));
    };
    for (const double share : {0.4, 0.5, 1.0}) // of 0.1 TFLOP/s
        single({{"what", "product"}, {"m", 1000}, {"n", 100}, {"k", 100}, {"seconds", 2e7 / (share * 1e11)}});
    single({{"what", "pass"}, {"bytes", 5.5e7}, {"seconds", 1e-3}});
    single({{"what", "launch"}, {"seconds", 5e-6}});
    single({{"what", "attention"}, {"queries", 128}, {"head_dim", 32}, {"batch", 64}, {"seconds", 3e-3}});
    for (const double bytes : {1e3, 1e6})
        for (const int group : {2, 4})
            out.figures.push_back({{"what", "collective"}, {"kind", "all_gather"}, {"group", group}, {"groups", 1},
                {"nodes", 1}, {"bytes", bytes}, {"seconds", (group - 1) * (5e-5 + bytes / group * 2e-9)}});
    for (const Shape& shape :
        {Shape{1, 1, 1, 1, 16, 1}, {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 2, 8}, {1, 1, 1, 8, 4, 1}, {2, 1, 1, 1, 8, 1},
            {4, 1, 1, 1, 1, 1}, {1, 1, 4, 1, 2, 4}, {1, 2, 1, 1, 8, 1}, {1, 1, 2, 1, 4, 4}, {2, 1, 2, 2, 4, 2}}) {
        const ResolvedPlan plan = on_other_machine(plan_of(shape));
        out.figures.push_back({{"what", "step"}, {"plan", to_json(plan, PresetStyle::inlined)},
            {"step_time_s", predict(plan).step_time_s.value_or(0)}});
    }
    out.figures.push_back({{"what", "pace"}, {"spread", spread}});
    return out;
}

Expected<MeasuredMachine> machine(double spread = 0.02)
{
    return measured_machine(
        measurement(spread), *test::presets().cluster("this-computer"), *test::presets().stack("fourfold"));
}

TEST(MeasuredMachine, PredictsWhatWasNotMeasuredAndTheShippedPresetDoesNot)
{
    const auto found = machine();
    ASSERT_TRUE(found) << found.error().line();
    EXPECT_EQ(found->steps, 10);
    EXPECT_FALSE(found->unsteady);
    const auto gpu = gpu_from_json(found->cluster["gpu"], "gpu");
    ASSERT_TRUE(gpu);
    EXPECT_TRUE(gpu->is_cpu());
    EXPECT_NEAR(*gpu->fp32_tflops, 0.1, 1e-6);
    auto cluster = cluster_from_json(found->cluster, *gpu, "cluster");
    ASSERT_TRUE(cluster) << cluster.error().line();
    ASSERT_TRUE(cluster->calibration);
    for (const Shape& shape : {Shape{2, 1, 1, 2, 4, 2}, {1, 1, 1, 2, 8, 1}, {1, 1, 1, 1, 4, 2}}) {
        ResolvedPlan plan = plan_of(shape);
        const double truth = predict(on_other_machine(plan)).step_time_s.value_or(0),
                     shipped = predict(plan).step_time_s.value_or(0);
        plan.cluster = *cluster;
        plan.cluster.id = "this-computer";
        for (const auto& [name, value] : cluster->calibration->constants)
            plan.stack.gpu_constants["cpu"][name] = value;
        EXPECT_NEAR(predict(plan).step_time_s.value_or(0) / truth, 1, 0.15) << shape.tp << shape.dp;
        EXPECT_GT(std::abs(shipped / truth - 1), 0.25) << "the machine is another one";
    }
}

TEST(MeasuredMachine, SaysThatClocksChangedAndWidensItsRanges)
{
    const auto steady = machine(0.02), unsteady = machine(0.4);
    ASSERT_TRUE(steady && unsteady);
    EXPECT_TRUE(unsteady->unsteady);
    EXPECT_NE(to_text(*unsteady).find("measure again"), std::string::npos);
    EXPECT_EQ(to_text(*steady).find("measure again"), std::string::npos);
    const auto width = [](const MeasuredMachine& machine) {
        return machine.cluster["calibration"]["constants"]["interval_node"].get<double>();
    };
    EXPECT_GT(width(*unsteady), 2 * width(*steady));
    EXPECT_NE(unsteady->cluster["name"].get<std::string>().find("2026-01-31"), std::string::npos);
}

TEST(MeasuredMachine, NeedsProductsAndSteps)
{
    MachineMeasurement empty = measurement(0);
    std::erase_if(empty.figures, [](const Json& one) { return one["what"] == "step"; });
    const auto refused
        = measured_machine(empty, *test::presets().cluster("this-computer"), *test::presets().stack("fourfold"));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().line().find("measured"), std::string::npos);
}

} // namespace
} // namespace fourfold
