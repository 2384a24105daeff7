// SPDX-License-Identifier: GPL-3.0-or-later
// Traces of PyTorch's profiler: what is read of them, and their times against counting moment by moment.
#include "core/base/json.h"
#include "core/plan/presets.h"
#include "core/predict/prediction.h"
#include "core/profile/difference.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

namespace fourfold {
namespace {

Json event(const char* category, const std::string& name, double ts, double dur, const Json& args = Json::object())
{
    return {{"ph", "X"}, {"cat", category}, {"name", name}, {"pid", 0}, {"tid", 7}, {"ts", ts}, {"dur", dur},
        {"args", args}};
}

// Two steps of 1,000 us on a GPU, with what the host did around them, in the order in which Kineto writes.
Json small_trace()
{
    const auto on = [](int stream) { return Json{{"device", 0}, {"stream", stream}, {"External id", 17}}; };
    Json gather = on(20);
    gather.update({{"Collective name", "_allgather_base"}, {"In msg nelems", 1024}, {"Out msg nelems", 8192},
        {"Group size", 8}, {"dtype", "BFloat16"}, {"Process Group Name", "fsdp"},
        {"Process Group Ranks", Json::array({0, 1, 2, 3, 4, 5, 6, 7})}});
    Json events = Json::array({event("user_annotation", "ProfilerStep#3", 900, 1000),
        event("gpu_user_annotation", "ProfilerStep#3", 1000, 1000, on(7)),
        event("gpu_user_annotation", "ProfilerStep#4", 2000, 1000, on(7)),
        event("cpu_op", "aten::mm", 950, 20, {{"Input Dims", Json::array({Json::array({4, 4})})}}),
        event("kernel", "nvjet_tst_192x192_64x4_2x1_v_bz_coopA_TNN", 2100, 300, on(7)),
        event("kernel", "void at::native::vectorized_elementwise_kernel<4, silu>", 2400, 100, on(7)),
        event("kernel", "void flash_fwd_kernel<Flash_fwd_kernel_traits<128>>", 2500, 200, on(7)),
        event("kernel", "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 2300, 500, gather),
        event("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 2900, 50, on(24)),
        event("kernel", "sm90_xmma_gemm_bf16bf16", 1990, 30, on(7))}); // begins in the step before
    events.insert(
        events.begin(), Json{{"ph", "M"}, {"name", "process_name"}, {"pid", 0}, {"args", {{"name", "python"}}}});
    return {{"schemaVersion", 1}, {"deviceProperties", Json::array({{{"id", 0}, {"name", "NVIDIA H100 80GB HBM3"}}})},
        {"distributedInfo", {{"backend", "nccl"}, {"rank", 5}, {"world_size", 8}}}, {"displayTimeUnit", "ms"},
        {"traceEvents", events}, {"traceName", "trace.json"}};
}

class Kineto : public testing::Test {
protected:
    test::TemporaryFolder folder;

    [[nodiscard]] Expected<Profile> read(const std::string& text) const
    {
        const auto file = folder.path() / "trace.json";
        std::ofstream(file, std::ios::binary) << text;
        return read_kineto(file);
    }
};

TEST_F(Kineto, KernelsStepsAndCollectivesAreRead)
{
    const auto profile = read(small_trace().dump());
    ASSERT_TRUE(profile) << profile.error().line();
    EXPECT_EQ(profile->device, "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(profile->rank, 5);
    EXPECT_EQ(profile->ranks, 8);
    EXPECT_EQ(profile->kernels.size(), 6u);
    ASSERT_EQ(profile->steps.size(), 2u) << "those of the GPU";
    EXPECT_DOUBLE_EQ(profile->steps[1].start_s, 0.002);

    const auto step = step_of(*profile);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->number, 4);
    EXPECT_NEAR(step->length_s, 1e-3, 1e-12);
    ASSERT_EQ(step->kernels.size(), 6u);
    EXPECT_NEAR(step->kernels.front().end_s, 20e-6, 1e-12) << "cut where the step begins";
    const KernelTimes times = kernel_times(*step);
    EXPECT_NEAR(times[KernelKind::product], 320e-6, 1e-12);
    EXPECT_NEAR(times[KernelKind::other], 100e-6, 1e-12);
    EXPECT_NEAR(times[KernelKind::attention], 200e-6, 1e-12);
    EXPECT_NEAR(times[KernelKind::communication], 500e-6, 1e-12);
    EXPECT_NEAR(times.exposed_communication, 100e-6, 1e-12) << "from 2,700 to 2,800 us nothing else runs";
    EXPECT_NEAR(times.exposed_copies, 50e-6, 1e-12);
    EXPECT_NEAR(times.idle, (80 + 100 + 50) * 1e-6, 1e-12);

    const auto uses = collective_uses(*step);
    ASSERT_EQ(uses.size(), 1u);
    EXPECT_EQ(uses[0].collective, "_allgather_base");
    EXPECT_EQ(uses[0].group, "fsdp");
    EXPECT_EQ(uses[0].ranks, 8);
    EXPECT_EQ(uses[0].bytes, 8192 * 2.0);

    const auto before = step_of(*profile, 3);
    ASSERT_TRUE(before);
    EXPECT_EQ(before->kernels.size(), 1u);
    const auto none = step_of(*profile, 9);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().hint, "it has 3, 4");
}

// Against moments of one microsecond, counted one by one.
TEST_F(Kineto, TimesAreThoseOfCountingMoments)
{
    std::mt19937 random(7);
    const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
    for (int round = 0; round < 20; ++round) {
        StepProfile step;
        step.length_s = 400e-6;
        for (int i = 0; i < 40; ++i) {
            const int start = below(390), end = std::min(400, start + 1 + below(30));
            Kernel kernel;
            kernel.kind = static_cast<KernelKind>(below(static_cast<int>(kWords<KernelKind>.size())));
            kernel.start_s = start * 1e-6;
            kernel.end_s = end * 1e-6;
            step.kernels.push_back(kernel);
        }
        KernelTimes counted;
        for (int moment = 0; moment < 400; ++moment) {
            std::array<bool, kWords<KernelKind>.size()> runs{};
            for (const Kernel& kernel : step.kernels) {
                const double middle = (moment + 0.5) * 1e-6;
                runs[static_cast<std::size_t>(kernel.kind)] |= kernel.start_s < middle && middle < kernel.end_s;
            }
            const bool computes = runs[0] || runs[1] || runs[2] || runs[3];
            for (std::size_t kind = 0; kind < runs.size(); ++kind)
                counted.busy[kind] += runs[kind] ? 1e-6 : 0;
            counted.exposed_communication += !computes && runs[4] ? 1e-6 : 0;
            counted.exposed_copies += !computes && !runs[4] && runs[5] ? 1e-6 : 0;
            counted.idle += !computes && !runs[4] && !runs[5] ? 1e-6 : 0;
        }
        const KernelTimes times = kernel_times(step);
        for (std::size_t kind = 0; kind < counted.busy.size(); ++kind)
            EXPECT_NEAR(times.busy[kind], counted.busy[kind], 1e-9);
        EXPECT_NEAR(times.exposed_communication, counted.exposed_communication, 1e-9);
        EXPECT_NEAR(times.exposed_copies, counted.exposed_copies, 1e-9);
        EXPECT_NEAR(times.idle, counted.idle, 1e-9);
    }
}

TEST_F(Kineto, TheRowsAddUpToTheStep)
{
    const auto plan = resolve(
        *plan_from_json({{"model", "llama-3.1-8b"}, {"cluster", "dgx-h100"}, {"gpus", 8}, {"stack", "torchtitan"}}, ""),
        Presets());
    ASSERT_TRUE(plan) << plan.error().line();
    const Prediction prediction = predict(*plan);
    const auto profile = read(small_trace().dump());
    const auto rows = part_differences(prediction, *step_of(*profile));
    const auto row = [&](const std::string& part) {
        const auto at
            = std::find_if(rows.begin(), rows.end(), [&](const PartDifference& each) { return each.part == part; });
        return at == rows.end() ? PartDifference() : *at;
    };
    EXPECT_EQ(rows.back().part, "step");
    EXPECT_EQ(rows.back().predicted_s, prediction.step_time_s);
    EXPECT_EQ(row("matrix products").kernels, 2);
    EXPECT_GT(*row("matrix products").predicted_s, *row("attention").predicted_s);
    EXPECT_FALSE(row("copies").predicted_s);
    // One stream computes here, so that what computes, what is not hidden and what waits make the step.
    double sum = 0;
    for (const char* part : {"matrix products", "attention", "other kernels", "communication, not hidden", "idle"})
        sum += row(part).measured_s;
    EXPECT_NEAR(sum, 1e-3, 1e-12);
}

TEST_F(Kineto, WhatIsNoTraceIsSaidInOneLine)
{
    const std::string whole = small_trace().dump();
    Json no_kernels = small_trace();
    Json& events = no_kernels["traceEvents"];
    events.erase(events.begin() + 5, events.end());
    for (const auto& [text, said] :
        {std::pair{std::string("{}"), "no list \"traceEvents\""}, {std::string("[]"), "it is a list"},
            {std::string("3"), "single value"}, {std::string(""), "no whole JSON"},
            {whole.substr(0, whole.size() - 20), "no whole JSON"}, {no_kernels.dump(), "no kernel"},
            {std::string("\x1f\x8b rest"), "is packed"}, {std::string(200, '['), "it is a list"},
            {"{\"traceEvents\": " + std::string(200, '['), "nested deeper"}}) {
        const auto profile = read(text);
        ASSERT_FALSE(profile) << said;
        EXPECT_NE(profile.error().line().find(said), std::string::npos) << profile.error().line();
        EXPECT_NE(profile.error().line().find("trace.json"), std::string::npos);
        EXPECT_EQ(profile.error().line().find('\n'), std::string::npos);
    }
    EXPECT_FALSE(read_kineto(folder.path() / "missing.json"));
    // Figures of hundreds of digits, or none at all.
    for (const auto& beyond : {event("kernel", "gemm", 0, 1e300), event("kernel", "gemm", -1e300, 1),
             event("kernel", "ncclDevKernel_AllGather", 0, 1, {{"Out msg nelems", 1e308}, {"dtype", "Double"}})}) {
        Json far = small_trace();
        far["traceEvents"].push_back(beyond);
        const auto profile = read(far.dump());
        ASSERT_FALSE(profile) << beyond;
        EXPECT_NE(profile.error().line().find("beyond all measure"), std::string::npos) << profile.error().line();
    }
    Json many = small_trace();
    for (int step = 10; step < 1000; ++step)
        many["traceEvents"].push_back(
            event("gpu_user_annotation", "ProfilerStep#" + std::to_string(step), 3000 + step, 1));
    const auto unknown = step_of(*read(many.dump()), 5000);
    ASSERT_FALSE(unknown);
    EXPECT_LT(unknown.error().line().size(), 200u) << unknown.error().line();
    // Values of other kinds than expected are passed over.
    Json odd = small_trace();
    odd["traceEvents"].push_back({{"ph", "X"}, {"cat", 7}, {"name", Json::array()}, {"ts", "now"}, {"dur", -1}});
    odd["traceEvents"].push_back("text");
    odd["distributedInfo"] = Json::array({1, 2});
    const auto profile = read(odd.dump());
    ASSERT_TRUE(profile) << profile.error().line();
    EXPECT_EQ(profile->kernels.size(), 6u);
}

TEST(KernelKinds, AreKnownByName)
{
    for (const auto& [name, kind] :
        {std::pair{"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", KernelKind::communication},
            {"void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4>>", KernelKind::optimizer},
            {"cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16>", KernelKind::product},
            {"fmha_cutlassB_bf16_aligned_64x64_k128_sm80", KernelKind::attention},
            {"cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_31", KernelKind::attention},
            {"ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nn", KernelKind::product},
            {"triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_0", KernelKind::other},
            {"void at::native::(anonymous namespace)::layer_norm_grad_input_kernel", KernelKind::other}})
        EXPECT_EQ(kernel_kind(name), kind) << name;
}

} // namespace
} // namespace fourfold
