// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json_fields.h"
#include "core/hardware/cluster.h"

namespace fourfold {

namespace {
constexpr double kTera = 1e12;
const double kExponentialsPerClock = Gpu().exponentials_per_clock;

Expected<std::optional<double>> peak(const Fields& peaks, const std::string& key)
{
    if (!peaks.has(key))
        return std::optional<double>();
    FOURFOLD_TRY(const double tflops, peaks.positive(key));
    return std::optional<double>(tflops);
}
} // namespace

double Gpu::peak_flops(Precision precision) const
{
    const double half = bf16_tflops ? *bf16_tflops : fp16_tflops ? *fp16_tflops : fp32_tflops.value_or(0);
    double tflops = half;
    switch (precision) {
    case Precision::fp32:
        tflops = fp32_tflops.value_or(half);
        break;
    case Precision::fp16:
        tflops = fp16_tflops.value_or(half);
        break;
    case Precision::bf16:
        break;
    case Precision::fp8:
        tflops = fp8_tflops.value_or(half);
        break;
    case Precision::nvfp4:
        tflops = fp4_tflops.value_or(half);
        break;
    }
    return tflops * kTera;
}

Expected<Gpu> gpu_from_json(const Json& json, const std::string& where)
{
    FOURFOLD_TRY(const Fields fields, Fields::of(json, where));
    Gpu gpu;
    FOURFOLD_TRY(gpu.id, fields.text_or("id", ""));
    FOURFOLD_TRY(gpu.name, fields.name_or("name", gpu.id.empty() ? "custom GPU" : gpu.id));
    FOURFOLD_TRY(gpu.generation, fields.text_or("generation", ""));
    FOURFOLD_TRY(gpu.memory_gib, fields.positive("memory_gib"));
    FOURFOLD_TRY(gpu.memory_bandwidth_gb_s, fields.positive("memory_bandwidth_gb_s"));
    FOURFOLD_TRY(const Fields peaks, fields.object("peak_tflops"));
    FOURFOLD_TRY(gpu.bf16_tflops, peak(peaks, "bf16"));
    FOURFOLD_TRY(gpu.fp16_tflops, peak(peaks, "fp16"));
    FOURFOLD_TRY(gpu.fp8_tflops, peak(peaks, "fp8"));
    FOURFOLD_TRY(gpu.fp4_tflops, peak(peaks, "fp4"));
    FOURFOLD_TRY(gpu.fp32_tflops, peak(peaks, "fp32"));
    if (!gpu.bf16_tflops && !gpu.fp16_tflops && !gpu.fp32_tflops)
        return fields.problem("peak_tflops", "expected a dense peak in TFLOP/s for at least one of bf16, fp16, fp32");
    FOURFOLD_TRY(gpu.multiprocessors, fields.small_integer_or("multiprocessors", 0, 0, 1 << 20));
    FOURFOLD_TRY(gpu.power_w, fields.non_negative_or("power_w", 0));
    FOURFOLD_TRY(gpu.design_power_w, fields.non_negative_or("design_power_w", 0));
    FOURFOLD_TRY(gpu.product_power_w, fields.non_negative_or("product_power_w", 0));
    FOURFOLD_TRY(gpu.exponentials_per_clock, fields.positive_or("exponentials_per_clock", kExponentialsPerClock));
    FOURFOLD_TRY(gpu.host_link_gb_s, fields.non_negative_or("host_link_gb_s", 0));
    return gpu;
}

Json to_json(const Gpu& gpu)
{
    Json peaks = Json::object();
    const auto add = [&peaks](const char* key, const std::optional<double>& tflops) {
        if (tflops)
            peaks[key] = *tflops;
    };
    add("bf16", gpu.bf16_tflops);
    add("fp16", gpu.fp16_tflops);
    add("fp8", gpu.fp8_tflops);
    add("fp4", gpu.fp4_tflops);
    add("fp32", gpu.fp32_tflops);
    Json json = Json::object();
    if (!gpu.id.empty())
        json["id"] = gpu.id;
    json["name"] = gpu.name;
    if (!gpu.generation.empty())
        json["generation"] = gpu.generation;
    json["memory_gib"] = gpu.memory_gib;
    json["memory_bandwidth_gb_s"] = gpu.memory_bandwidth_gb_s;
    json["peak_tflops"] = std::move(peaks);
    json["multiprocessors"] = gpu.multiprocessors;
    json["power_w"] = gpu.power_w;
    if (gpu.design_power_w > 0)
        json["design_power_w"] = gpu.design_power_w;
    if (gpu.product_power_w > 0)
        json["product_power_w"] = gpu.product_power_w;
    if (gpu.exponentials_per_clock != kExponentialsPerClock)
        json["exponentials_per_clock"] = gpu.exponentials_per_clock;
    if (gpu.host_link_gb_s > 0)
        json["host_link_gb_s"] = gpu.host_link_gb_s;
    return json;
}

} // namespace fourfold
