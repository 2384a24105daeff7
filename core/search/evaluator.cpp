// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/evaluator.h"

#include "core/cost/runtime_switches.h"
#include "core/memory/replay.h"
#include "core/predict/fit.h"
#include "core/predict/step_time.h"

#include <algorithm>
#include <cmath>

namespace fourfold {
namespace {

// Candidates whose meshes, shards and stages are the same.
bool same_stages(const Candidate& a, const Candidate& b)
{
    return a.tp == b.tp && a.cp == b.cp && a.pp == b.pp && a.dp == b.dp && a.ep == b.ep && a.order == b.order
        && a.sharding == b.sharding && a.virtual_stages == b.virtual_stages;
}

bool same_but_recomputation(Candidate a, const Candidate& b)
{
    a.recompute = b.recompute;
    return a == b;
}

} // namespace

Evaluation evaluate_by_simulation(const ResolvedPlan& plan)
{
    Evaluation evaluation;
    const Prediction prediction = predict(plan);
    evaluation.figures.memory_gib = prediction.memory_gib.value_or(0);
    evaluation.figures.memory_device_gib = prediction.memory_device_gib.value_or(0);
    evaluation.figures.fit = prediction.fit;
    for (const Reason& reason : prediction.reasons) {
        if (reason.code == "memory")
            continue;
        evaluation.code = reason.code;
        evaluation.message = reason.message;
        return evaluation;
    }
    evaluation.figures.step_time_s = prediction.step_time_s.value_or(0);
    evaluation.outcome = prediction.fit == Fit::no ? Outcome::does_not_fit : Outcome::evaluated;
    return evaluation;
}

LayoutEvaluator::LayoutEvaluator(const ResolvedPlan& base, const SearchSpace& space)
    : base_(base)
    , space_(space)
    , plan_(base)
    , terms_(base)
    // This rule compares layers of a stage with what recomputes.
    , caches_rules_(!base.training.recompute_layers)
{
    const Constants& constants = terms_.context().constants;
    fragmentation_ = std::max(1.0, constants[Constant::fragmentation]);
    if (runtime_switches(base.run.environment).expandable_segments)
        fragmentation_ = 1 + (fragmentation_ - 1) * constants[Constant::expandable_fragmentation];
}

const ResolvedPlan& LayoutEvaluator::set(const Candidate& candidate)
{
    if (placed_ && same_stages(*placed_, candidate)) {
        Training& training = plan_.training;
        training.recompute = candidate.recompute;
        training.schedule = candidate.schedule;
        training.micro_batch = candidate.micro_batch;
        training.global_batch = candidate.global_batch > 0 ? candidate.global_batch : base_.training.global_batch;
        training.micro_batches
            = std::max(1, training.global_batch / (std::max(1, int(candidate.micro_batch)) * candidate.dp));
    } else {
        place(candidate, space_, base_, plan_);
        runs_.clear();
    }
    placed_ = candidate;
    return plan_;
}

bool LayoutEvaluator::keeps_rules()
{
    if (caches_rules_ && judged_ && same_but_recomputation(*placed_, *judged_))
        return rules_hold_;
    const std::vector<Reason> reasons = check(plan_);
    rules_hold_ = reasons.empty();
    judged_ = placed_;
    if (!rules_hold_) {
        evaluation_ = {};
        evaluation_.code = reasons.front().code;
        evaluation_.message = reasons.front().message;
    }
    return rules_hold_;
}

bool LayoutEvaluator::has_closed_form() const
{
    const Training& training = plan_.training;
    const Layout& layout = plan_.layout;
    const CostContext& context = terms_.context();
    if (!(context.peak_flops > 0) || !(context.memory_bytes_s > 0))
        return false;
    if (layout.virtual_stages != 1 || training.recompute_layers)
        return false;
    if (training.schedule != Schedule::one_f_one_b && training.schedule != Schedule::gpipe)
        return false;
    if (training.schedule == Schedule::one_f_one_b && training.micro_batches < layout.pp)
        return false;
    return training.micro_batches == micro_batches_to_simulate(plan_);
}

void LayoutEvaluator::find_runs()
{
    terms_.set_layout(plan_);
    const std::vector<int>& layers = plan_.layout.stage_layers;
    int first_layer = 0;
    for (std::size_t stage = 0; stage < layers.size(); ++stage) {
        ChunkShape shape;
        shape.chunk = int(stage);
        shape.first_layer = first_layer;
        shape.layers = layers[stage];
        shape.embedding = stage == 0;
        shape.head = stage + 1 == layers.size();
        shape.recompute_layers = shape.layers;
        first_layer += shape.layers;
        if (!runs_.empty()) {
            Run& run = runs_.back();
            const bool same = run.shape.layers == shape.layers && run.shape.embedding == shape.embedding
                && run.shape.head == shape.head
                && dense_layers(plan_.model, run.shape.first_layer, run.shape.layers)
                    == dense_layers(plan_.model, shape.first_layer, shape.layers);
            if (same) {
                ++run.stages;
                continue;
            }
        }
        runs_.push_back({shape, int(stage), 1, std::nullopt});
    }
}

const StepTerms& LayoutEvaluator::step_of(Run& run)
{
    if (!run.step)
        run.step = terms_.step(plan_, run.shape);
    return *run.step;
}

void LayoutEvaluator::fill_memory()
{
    const int micro_batches = plan_.training.micro_batches, stages = plan_.layout.pp;
    const double overhead = device_overhead_gib(plan_.layout, terms_.context().constants);
    LayoutFigures& figures = evaluation_.figures;
    chunks_.clear();
    double published_of_stage = 0;
    for (Run& run : runs_) {
        const ChunkTerms& chunk = terms_.chunk(plan_, run.shape);
        chunks_.push_back(&chunk);
        const StepTerms& step = step_of(run);
        const bool gpipe = plan_.training.schedule == Schedule::gpipe;
        const int in_flight = gpipe ? micro_batches : std::min(micro_batches, stages - run.first_stage);
        const double peak
            = std::max(in_flight * chunk.kept + std::max(chunk.in_forward, chunk.in_backward), step.in_update);
        const double allocated = (step.held + peak) / kGib;
        const double reserved = allocated * fragmentation_;
        const MemoryConvention convention = plan_.stack.memory_convention;
        const double published = convention == MemoryConvention::peak_allocated ? allocated
            : convention == MemoryConvention::peak_reserved                     ? reserved
                                                                                : reserved + overhead;
        figures.memory_device_gib = std::max(figures.memory_device_gib, reserved + overhead);
        figures.memory_gib = std::max(figures.memory_gib, published);
        const int told = plan_.stack.memory_stage;
        if (told >= run.first_stage && told < run.first_stage + run.stages) {
            // Later stages of a run keep fewer micro-batches.
            const int fewer = gpipe ? micro_batches : std::min(micro_batches, stages - told);
            const double own
                = std::max(fewer * chunk.kept + std::max(chunk.in_forward, chunk.in_backward), step.in_update);
            published_of_stage = published
                + (own - peak) / kGib * (convention == MemoryConvention::peak_allocated ? 1 : fragmentation_);
        }
    }
    if (published_of_stage > 0)
        figures.memory_gib = published_of_stage;
    figures.fit = judge_fit(figures.memory_device_gib, plan_.cluster.gpu.memory_gib);
}

void LayoutEvaluator::fill_time()
{
    const Constants& constants = terms_.context().constants;
    LayoutFigures& figures = evaluation_.figures;
    const double pressure = memory_pressure(figures.memory_device_gib, plan_.cluster.gpu.memory_gib)
        * constants[Constant::allocator_pressure];
    times_.clear();
    for (std::size_t i = 0; i < runs_.size(); ++i)
        times_.push_back({runs_[i].stages, chunks_[i]->forward.under(pressure), chunks_[i]->backward.under(pressure)});
    const auto ends = pipeline_ends(
        plan_.training.schedule, times_, plan_.training.micro_batches, plan_.layout.pp > 1 ? chunks_[0]->hop : 0);
    double barrier = 0;
    std::array<double, 4> slowest{};
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        const auto exposed = exposed_by_kind(
            *runs_[i].step, times_[i].forward_s, times_[i].backward_s, constants[Constant::overlap_slowdown]);
        using enum StepTerms::Item::Kind;
        barrier = std::max(barrier, (*ends)[i] + exposed[static_cast<std::size_t>(reduce)]);
        for (const auto kind : {gather, optimizer, other})
            slowest[static_cast<std::size_t>(kind)]
                = std::max(slowest[static_cast<std::size_t>(kind)], exposed[static_cast<std::size_t>(kind)]);
    }
    figures.step_time_s = barrier + slowest[1] + slowest[2] + slowest[3];
}

const Evaluation& LayoutEvaluator::evaluate()
{
    if (!keeps_rules())
        return evaluation_;
    evaluation_ = {};
    if (!has_closed_form()) {
        ++simulated_;
        evaluation_ = evaluate_by_simulation(plan_);
        return evaluation_;
    }
    if (runs_.empty())
        find_runs();
    fill_memory();
    if (evaluation_.figures.fit == Fit::no) {
        evaluation_.outcome = Outcome::does_not_fit;
        return evaluation_;
    }
    evaluation_.outcome = Outcome::evaluated;
    fill_time();
    return evaluation_;
}

} // namespace fourfold
