// SPDX-License-Identifier: GPL-3.0-or-later
// How long one prediction takes: what the desktop waits for while a spin box is held down (goal: under 5 ms).
#include "core/plan/presets.h"
#include "core/predict/prediction.h"

#include <benchmark/benchmark.h>

#include <string>

namespace fourfold {
namespace {

// Arg-free so that each preset is a named row of the report.
void predict_preset(benchmark::State& state, const std::string& id)
{
    const Presets presets;
    const auto file = presets.file("plans", id);
    const auto plan = file ? read_plan(*file) : Expected<Plan>(file.error());
    const auto resolved = plan ? resolve(*plan, presets) : Expected<ResolvedPlan>(plan.error());
    if (!resolved) {
        state.SkipWithError(resolved.error().line().c_str());
        return;
    }
    for (auto _ : state)
        benchmark::DoNotOptimize(predict(*resolved));
    state.counters["spans"] = double(predict(*resolved).timeline.spans.size());
}

BENCHMARK_CAPTURE(predict_preset, one_stage, std::string("llama-3.1-8b-tsubame4-16"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(predict_preset, interleaved_8x2_stages, std::string("llama-3.1-405b-torchtitan-512"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(predict_preset, ten_stages_512_micro_batches, std::string("bloom-200b-jean-zay-320"))
    ->Unit(benchmark::kMillisecond);

} // namespace
} // namespace fourfold

BENCHMARK_MAIN();
