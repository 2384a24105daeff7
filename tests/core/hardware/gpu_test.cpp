// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/hardware/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fourfold {
namespace {

using testing::HasSubstr;

const Json kH100 = {{"name", "H100"}, {"memory_gib", 79.1}, {"memory_bandwidth_gb_s", 3350},
    {"peak_tflops", {{"bf16", 989}, {"fp16", 989}, {"fp8", 1979}, {"fp32", 67}}}, {"multiprocessors", 132},
    {"power_w", 700}};

Gpu read(const Json& json)
{
    auto gpu = gpu_from_json(json, "gpu.json");
    if (!gpu) {
        ADD_FAILURE() << gpu.error().line();
        return {};
    }
    return *std::move(gpu);
}

TEST(Gpu, ReadsEveryKeyAndWritesItBack)
{
    Json json = kH100;
    json["id"] = "h100";
    const Gpu gpu = read(json);
    EXPECT_EQ(gpu.memory_gib, 79.1);
    EXPECT_EQ(gpu.multiprocessors, 132);
    const Json written = to_json(gpu);
    for (const auto& [key, value] : json.items())
        EXPECT_EQ(written[key], value) << key;
    EXPECT_EQ(to_json(read(written)), written);
}

TEST(Gpu, PeakFollowsThePrecision)
{
    const Gpu gpu = read(kH100);
    EXPECT_EQ(gpu.peak_flops(Precision::bf16), 989e12);
    EXPECT_EQ(gpu.peak_flops(Precision::fp16), 989e12);
    EXPECT_EQ(gpu.peak_flops(Precision::fp8), 1979e12);
    EXPECT_EQ(gpu.peak_flops(Precision::fp32), 67e12);
}

TEST(Gpu, AnUnknownPeakFallsBack)
{
    Json json = kH100;
    json["peak_tflops"] = {{"bf16", 312}, {"fp8", nullptr}, {"fp32", 19.5}};
    EXPECT_EQ(read(json).peak_flops(Precision::fp8), 312e12);
    EXPECT_EQ(read(json).peak_flops(Precision::fp16), 312e12);
    json["peak_tflops"] = {{"fp16", 125}, {"fp32", 15.7}};
    EXPECT_EQ(read(json).peak_flops(Precision::bf16), 125e12);
    json["peak_tflops"] = {{"fp32", 0.25}};
    EXPECT_EQ(read(json).peak_flops(Precision::bf16), 0.25e12);
    EXPECT_EQ(read(json).peak_flops(Precision::fp8), 0.25e12);
}

TEST(Gpu, NamesTheWrongField)
{
    struct Case {
        const char* key;
        Json value;
        const char* where;
        const char* message;
    };
    const Case cases[]{
        {"memory_gib", nullptr, "gpu.json: memory_gib", "missing key"},
        {"memory_gib", 0, "gpu.json: memory_gib", "above 0"},
        {"memory_gib", "80", "gpu.json: memory_gib", "found \"80\""},
        {"memory_bandwidth_gb_s", -1, "gpu.json: memory_bandwidth_gb_s", "above 0"},
        {"peak_tflops", 989, "gpu.json: peak_tflops", "expected an object"},
        {"peak_tflops", Json::object(), "gpu.json: peak_tflops", "at least one of bf16, fp16, fp32"},
        {"peak_tflops", {{"fp8", 1979}}, "gpu.json: peak_tflops", "at least one of bf16, fp16, fp32"},
        {"peak_tflops", {{"bf16", 0}}, "gpu.json: peak_tflops: bf16", "above 0"},
        {"multiprocessors", -1, "gpu.json: multiprocessors", "found -1"},
        {"power_w", "high", "gpu.json: power_w", "at least 0"},
    };
    for (const Case& wrong : cases) {
        Json json = kH100;
        json[wrong.key] = wrong.value;
        const auto gpu = gpu_from_json(json, "gpu.json");
        ASSERT_FALSE(gpu) << wrong.where;
        EXPECT_EQ(gpu.error().where, wrong.where);
        EXPECT_THAT(gpu.error().message, HasSubstr(wrong.message));
    }
    EXPECT_FALSE(gpu_from_json(Json::array(), "gpu.json"));
}

} // namespace
} // namespace fourfold
