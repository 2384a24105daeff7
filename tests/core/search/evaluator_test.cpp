// SPDX-License-Identifier: GPL-3.0-or-later
// The search's evaluator against the operation list and the event simulator, on random plans of many kinds.
#include "core/search/enumerate.h"
#include "core/search/evaluator.h"
#include "tests/core/search/search_plans.h"

#include <cstdlib>
#include <random>

namespace fourfold {
namespace {

int from_environment(const char* name, int fallback)
{
    const char* text = std::getenv(name);
    return text != nullptr ? std::atoi(text) : fallback;
}

class Random {
public:
    explicit Random(unsigned seed)
        : engine_(seed)
    {
    }
    template <typename T>
    T one_of(std::initializer_list<T> list)
    {
        return list.begin()[engine_() % list.size()];
    }
    bool once_in(unsigned count) { return engine_() % count == 0; }
    std::size_t below(std::size_t count) { return engine_() % count; }

private:
    std::mt19937 engine_;
};

ResolvedPlan random_plan(Random& random)
{
    const int gpus = random.one_of({8, 16, 24, 32, 64, 128, 512, 1024});
    ResolvedPlan plan = search_plan(
        random.one_of({"llama-3.1-8b", "llama-3.1-8b", "llama-3.1-70b", "llama-2-13b", "gpt3-175b", "bloom-176b",
            "mixtral-8x7b", "deepseek-v3", "llama-4-maverick", "gpt-oss-20b", "gemma-3-12b", "nemotron-h-8b"}),
        random.one_of({"dgx-h100", "tsubame4", "jean-zay-a100", "abci-a", "gb200-nvl72", "tpu-v5e-pod"}), gpus,
        random.one_of({64, 256, 1024, 1536, 2048}),
        random.one_of({"generic", "megatron-lm", "torchtitan", "megatron-deepspeed", "nanotron", "fourfold"}));
    Training& training = plan.training;
    training.seq_len = random.one_of({2048, 4096, 8192, 32768});
    training.precision = random.one_of({Precision::bf16, Precision::bf16, Precision::fp16, Precision::fp8});
    training.compile = random.once_in(2);
    training.sequence_parallel = !random.once_in(4);
    training.async_tp = training.sequence_parallel && random.once_in(4);
    training.attention = random.one_of(
        {AttentionKernel::flash2, AttentionKernel::flash3, AttentionKernel::cudnn, AttentionKernel::unfused});
    training.cp_method = random.one_of({CpMethod::ring, CpMethod::all_gather, CpMethod::ulysses});
    training.optimizer = random.one_of({Optimizer::adamw, Optimizer::fused_adamw, Optimizer::muon});
    training.offload = random.one_of({Offload::none, Offload::none, Offload::activations, Offload::optimizer});
    if (training.optimizer == Optimizer::muon && training.offload == Offload::optimizer)
        training.offload = Offload::none;
    plan.model.predicted_ahead = random.once_in(3) ? int(random.below(3)) : 0;
    training.grad_dtype = random.one_of({Precision::fp32, Precision::bf16});
    training.overlap.grad_reduce = !random.once_in(4);
    training.overlap.param_gather = !random.once_in(4);
    training.fsdp.reshard_after_forward = !random.once_in(3);
    training.fsdp.each_micro_batch = random.once_in(2);
    training.fsdp.layers_per_unit = random.one_of({1, 1, 2});
    // Room for layouts that would not fit, so that more of them have a time to compare.
    if (random.once_in(2))
        plan.cluster.gpu.memory_gib = 2000;
    // Where no rule stands in its way; many of these have layouts with one micro-batch.
    training.optimizer_in_backward = gpus <= 24 && training.precision != Precision::fp16
        && training.optimizer != Optimizer::muon && training.offload != Offload::optimizer;
    if (training.optimizer_in_backward) {
        plan.run.clip_norm = 0;
        plan.run.watch.not_finite = NotFiniteAction::stop;
    }
    return plan;
}

SearchSpace random_space(Random& random, const ResolvedPlan& plan)
{
    SearchSpace space = default_space(plan, {plan.gpus, 2 * plan.gpus});
    space.sharding = {Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters, Sharding::hybrid};
    space.schedule = {Schedule::gpipe, Schedule::one_f_one_b, Schedule::interleaved, Schedule::zb_h1};
    space.virtual_stages = {1, 2, 3, 5};
    if (random.once_in(3)) {
        EXPECT_TRUE(set_axis(space, "order=tp-cp-pp-dp,tp-cp-dp-pp,pp-tp-cp-dp,dp-cp-tp-pp", "test"));
    }
    return space;
}

TEST(Evaluator, EqualsTheOperationListAndTheEventSimulator)
{
    const int wanted = from_environment("FOURFOLD_FUZZ_COUNT", 3000);
    Random random(unsigned(from_environment("FOURFOLD_FUZZ_SEED", 1)));
    int compared = 0, timed = 0, closed = 0;
    while (compared < wanted) {
        const ResolvedPlan base = random_plan(random);
        const SearchSpace space = random_space(random, base);
        std::vector<Candidate> candidates;
        const std::vector<MeshUnit> units = mesh_units(space);
        // Some whole units, so that neighbours follow each other, and single layouts from all over; each unit on both
        // numbers of GPUs, which share what the number does not change and nothing else.
        for (int i = 0; i < 3; ++i) {
            const MeshUnit& picked = units[random.below(units.size())];
            for (const MeshUnit& unit : units) {
                if (unit.tp == picked.tp && unit.cp == picked.cp && unit.pp == picked.pp)
                    for_each_candidate(
                        space, base, unit, [&](const Candidate& candidate) { candidates.push_back(candidate); });
            }
        }
        std::vector<Candidate> chosen;
        const std::size_t begin = random.below(candidates.size());
        for (std::size_t i = begin; i < std::min(begin + 12, candidates.size()); ++i)
            chosen.push_back(candidates[i]);
        for (int i = 0; i < 12; ++i)
            chosen.push_back(candidates[random.below(candidates.size())]);
        // One layout in every order: what orders share is kept from one to the next, there and back.
        for (std::size_t i = 0; i < 2 * space.orders.size(); ++i) {
            chosen.push_back(chosen.front());
            chosen.back().order = std::uint8_t(i % space.orders.size());
        }
        LayoutEvaluator evaluator(base, space);
        std::set<std::string> codes;
        for (const Candidate& candidate : chosen) {
            const ResolvedPlan& plan = evaluator.set(candidate);
            const std::int64_t formulas = evaluator.ways().formula;
            const Evaluation& fast = evaluator.evaluate();
            const Evaluation reference = evaluate_by_simulation(plan, codes);
            const std::string text = to_json(plan, PresetStyle::ids).dump();
            ASSERT_EQ(fast.outcome, reference.outcome) << text;
            ++compared;
            if (fast.outcome == LayoutOutcome::broken_rule) {
                ASSERT_EQ(fast.code, reference.code) << text;
                continue;
            }
            const LayoutFigures &a = fast.figures, &b = reference.figures;
            ASSERT_NEAR(a.memory_gib, b.memory_gib, 1e-9 * b.memory_gib) << text;
            ASSERT_NEAR(a.memory_device_gib, b.memory_device_gib, 1e-9 * b.memory_device_gib) << text;
            ASSERT_EQ(a.fit, b.fit) << text;
            if (fast.outcome != LayoutOutcome::evaluated)
                continue;
            ASSERT_NEAR(a.step_time_s, b.step_time_s, 1e-9 * b.step_time_s) << text;
            ASSERT_LE(evaluator.estimate().figures.step_time_s, b.step_time_s * (1 + 1e-9)) << text;
            ++timed;
            closed += evaluator.ways().formula > formulas ? 1 : 0;
        }
    }
    EXPECT_GT(timed, compared / 10);
    EXPECT_GT(closed, timed / 4) << "many layouts take the closed form";
    EXPECT_LT(closed, timed) << "and some do not";
    std::printf("%d plans compared, %d with a step time, %d of them by formula\n", compared, timed, closed);
}

} // namespace
} // namespace fourfold
