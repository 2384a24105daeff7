// SPDX-License-Identifier: GPL-3.0-or-later
// Speed of the search: one evaluation (memory and step time) over a million distinct layouts on one core, and whole
// searches. The axes of the spaces are fixed here. Enumerated layouts and evaluated ones are counted apart: an
// enumerated layout may break a rule or not fit.
#include "core/plan/presets.h"
#include "core/search/enumerate.h"
#include "core/search/evaluator.h"
#include "core/search/search.h"

#include <benchmark/benchmark.h>

#include <stdexcept>

namespace fourfold {
namespace {

ResolvedPlan plan_for(const Json& model, const std::string& cluster, int gpus, int global_batch)
{
    static const Presets presets;
    const auto plan = plan_from_json(
        {{"model", model}, {"cluster", cluster}, {"gpus", gpus}, {"training", {{"global_batch", global_batch}}}},
        "benchmark");
    const auto resolved = plan ? resolve(*plan, presets) : Expected<ResolvedPlan>(plan.error());
    if (!resolved)
        throw std::runtime_error(resolved.error().line());
    return *resolved;
}

// Of a GPU on which every layout fits, so that every one needs its step time as well as its memory.
constexpr double kRoomyGpuGib = 1e7;

// GPT-3 175B on up to 4,096 A100, every number of whole nodes, pipelines without virtual stages.
SearchRequest one_evaluation_space(double gpu_memory_gib)
{
    SearchRequest request;
    request.plan = plan_for("gpt3-175b", "dgx-a100", 4096, 1536);
    if (gpu_memory_gib > 0)
        request.plan.cluster.gpu.memory_gib = gpu_memory_gib;
    request.space = default_space(request.plan, gpu_counts(request.plan.cluster, 4096));
    request.space.schedule = {Schedule::gpipe, Schedule::one_f_one_b};
    request.space.sharding
        = {Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters, Sharding::hybrid};
    request.space.batch_tolerance = 0.05;
    return request;
}

// The example of Calculon's README: Turing-NLG 530B on 5,128 A100, batches of at most 2,520 sequences (5,128 GPUs leave
// few meshes, so that orders and every way of sharding are tried as well). tests/bench/search/against_calculon.py runs
// both.
SearchRequest turing_space(double gpu_memory_gib)
{
    const Json model{{"name", "Turing-NLG 530B"}, {"model_type", "gpt2"}, {"n_embd", 20480}, {"n_layer", 105},
        {"n_head", 128}, {"n_positions", 2048}, {"vocab_size", 51200}, {"tie_word_embeddings", true}};
    SearchRequest request;
    request.plan = plan_for(model, "dgx-a100", 5128, 1923);
    if (gpu_memory_gib > 0)
        request.plan.cluster.gpu.memory_gib = gpu_memory_gib;
    request.space = default_space(request.plan, {5128});
    request.space.sharding
        = {Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters, Sharding::hybrid};
    if (!set_axis(request.space, "order=all", "benchmark"))
        throw std::runtime_error("orders");
    request.space.batch_tolerance = 0.34; // 1,282 to 2,520
    return request;
}

void turing(benchmark::State& state, double gpu_memory_gib)
{
    const SearchRequest request = turing_space(gpu_memory_gib);
    const std::vector<MeshUnit> units = mesh_units(request.space);
    std::int64_t enumerated = 0, evaluated = 0, unfit = 0;
    for (auto _ : state) {
        LayoutEvaluator evaluator(request.plan, request.space); // knows nothing yet
        enumerated = evaluated = unfit = 0;
        for (const MeshUnit& unit : units) {
            for_each_candidate(request.space, request.plan, unit, [&](const Candidate& candidate) {
                ++enumerated;
                evaluator.set(candidate);
                const LayoutOutcome outcome = evaluator.evaluate().outcome;
                evaluated += outcome == LayoutOutcome::evaluated ? 1 : 0;
                unfit += outcome == LayoutOutcome::does_not_fit ? 1 : 0;
            });
        }
    }
    const double rounds = double(state.iterations());
    state.counters["enumerated"] = double(enumerated);
    state.counters["evaluated"] = double(evaluated);
    state.counters["do_not_fit"] = double(unfit);
    state.counters["evaluated_per_s"] = benchmark::Counter(double(evaluated) * rounds, benchmark::Counter::kIsRate);
    state.counters["with_unfit_per_s"]
        = benchmark::Counter(double(evaluated + unfit) * rounds, benchmark::Counter::kIsRate);
}

void Turing530bOn5128(benchmark::State& state)
{
    turing(state, 0);
}
BENCHMARK(Turing530bOn5128)->Unit(benchmark::kMillisecond);

void Turing530bOn5128AllFit(benchmark::State& state)
{
    turing(state, kRoomyGpuGib);
}
BENCHMARK(Turing530bOn5128AllFit)->Unit(benchmark::kMillisecond);

void one_evaluation(benchmark::State& state, double gpu_memory_gib)
{
    constexpr std::int64_t kLayouts = 1000000;
    const SearchRequest request = one_evaluation_space(gpu_memory_gib);
    const std::vector<MeshUnit> units = mesh_units(request.space);
    std::int64_t layouts = 0, evaluated = 0, unfit = 0;
    for (auto _ : state) {
        LayoutEvaluator evaluator(request.plan, request.space);
        layouts = evaluated = unfit = 0;
        // Spread over the space: every third mesh.
        for (std::size_t i = 0; i < units.size() && evaluated + unfit < kLayouts; i += 3) {
            for_each_candidate(request.space, request.plan, units[i], [&](const Candidate& candidate) {
                ++layouts;
                evaluator.set(candidate);
                const Evaluation& evaluation = evaluator.evaluate();
                evaluated += evaluation.outcome == LayoutOutcome::evaluated ? 1 : 0;
                unfit += evaluation.outcome == LayoutOutcome::does_not_fit ? 1 : 0;
                benchmark::DoNotOptimize(evaluation.figures.step_time_s);
            });
        }
    }
    state.counters["enumerated"] = double(layouts);
    state.counters["evaluated"] = double(evaluated);
    state.counters["do_not_fit"] = double(unfit);
    state.counters["s_per_enumerated"] = benchmark::Counter(
        double(layouts) * double(state.iterations()), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
    state.counters["s_per_evaluated"] = benchmark::Counter(double(evaluated + unfit) * double(state.iterations()),
        benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void OneEvaluation(benchmark::State& state)
{
    one_evaluation(state, 0);
}
BENCHMARK(OneEvaluation)->Unit(benchmark::kMillisecond);

void OneEvaluationAllFit(benchmark::State& state)
{
    one_evaluation(state, kRoomyGpuGib);
}
BENCHMARK(OneEvaluationAllFit)->Unit(benchmark::kMillisecond);

void whole(benchmark::State& state, SearchRequest request)
{
    request.objective = *parse_objective("tps_per_gpu", "benchmark");
    SearchResult result;
    for (auto _ : state)
        result = search(request);
    state.counters["enumerated"] = double(result.counts.enumerated);
    state.counters["evaluated"] = double(result.counts.evaluated);
    state.counters["bounded"] = double(result.counts.bounded);
    state.counters["do_not_fit"] = double(result.counts.does_not_fit);
}

void Llama405bOn16384(benchmark::State& state)
{
    SearchRequest request;
    request.plan = plan_for("llama-3.1-405b", "dgx-h100", 16384, 2048);
    request.space = default_space(request.plan, {16384});
    whole(state, request);
}
BENCHMARK(Llama405bOn16384)->Unit(benchmark::kMillisecond)->UseRealTime();

void Gpt175bUpTo4096(benchmark::State& state)
{
    SearchRequest request;
    request.plan = plan_for("gpt3-175b", "dgx-a100", 4096, 1536);
    request.space = default_space(request.plan, gpu_counts(request.plan.cluster, 4096));
    whole(state, request);
}
BENCHMARK(Gpt175bUpTo4096)->Unit(benchmark::kMillisecond)->UseRealTime();

} // namespace
} // namespace fourfold

BENCHMARK_MAIN();
