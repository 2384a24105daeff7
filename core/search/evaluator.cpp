// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/evaluator.h"

#include "core/cost/runtime_switches.h"
#include "core/memory/replay.h"
#include "core/plan/check_rules.h"
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

Evaluation first_of(Reasons& reasons)
{
    Evaluation evaluation;
    const std::vector<Reason> list = reasons.take();
    if (!list.empty())
        evaluation.code = list.front().code;
    return evaluation;
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
        return evaluation;
    }
    evaluation.figures.step_time_s = prediction.step_time_s.value_or(0);
    evaluation.outcome = prediction.fit == Fit::no ? LayoutOutcome::does_not_fit : LayoutOutcome::evaluated;
    return evaluation;
}

LayoutEvaluator::LayoutEvaluator(const ResolvedPlan& base, const SearchSpace& space)
    : base_(base)
    , space_(space)
    , plan_(base)
    , terms_(base)
{
    for (std::size_t i = 0; i < broken_batch_.size(); ++i)
        broken_batch_[i].code = code_of(static_cast<BatchRule>(i));
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
        before_batch_.reset();
        after_batch_.reset();
    }
    placed_ = candidate;
    return plan_;
}

const Evaluation* LayoutEvaluator::broken_rule()
{
    // These two depend on more than the stages: rare, and not worth keeping.
    const bool keeps = !plan_.training.recompute_layers && !plan_.training.ramp_up;
    if (!keeps) {
        const std::vector<Reason> reasons = check(plan_);
        evaluation_ = {};
        if (reasons.empty())
            return nullptr;
        evaluation_.code = reasons.front().code;
        return &evaluation_;
    }
    if (!before_batch_ || judged_schedule_ != plan_.training.schedule) {
        Reasons before, after;
        check_degrees(plan_, before);
        check_tensor_parallel(plan_, before);
        check_sequence(plan_, before);
        check_experts(plan_, before);
        check_pipeline(plan_, before);
        check_training(plan_, after);
        before_batch_ = first_of(before);
        after_batch_ = first_of(after);
        judged_schedule_ = plan_.training.schedule;
    }
    if (!before_batch_->code.empty())
        return &*before_batch_;
    if (const BatchRule rule = broken_batch_rule(plan_); rule != BatchRule::none)
        return &broken_batch_[static_cast<std::size_t>(rule)];
    return after_batch_->code.empty() ? nullptr : &*after_batch_;
}

bool LayoutEvaluator::is_simulated_whole() const
{
    const Training& training = plan_.training;
    const CostContext& context = terms_.context();
    if (training.recompute_layers || !(context.peak_flops > 0) || !(context.memory_bytes_s > 0))
        return false;
    const bool known = training.schedule == Schedule::gpipe || training.schedule == Schedule::one_f_one_b
        || training.schedule == Schedule::interleaved;
    return known && training.micro_batches == micro_batches_to_simulate(plan_);
}

bool LayoutEvaluator::has_closed_form() const
{
    const Training& training = plan_.training;
    if (plan_.layout.virtual_stages != 1 || training.schedule == Schedule::interleaved)
        return false;
    return training.schedule == Schedule::gpipe || training.micro_batches >= plan_.layout.pp;
}

void LayoutEvaluator::find_runs()
{
    terms_.set_layout(plan_);
    const Layout& layout = plan_.layout;
    const std::size_t stages = static_cast<std::size_t>(layout.pp), chunks = layout.stage_layers.size();
    std::vector<ChunkShape> shapes(chunks);
    int first_layer = 0;
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        const int layers = layout.stage_layers[chunk];
        shapes[chunk] = {int(chunk), first_layer, layers, chunk == 0, chunk + 1 == chunks, double(layers)};
        first_layer += layers;
    }
    const auto same = [&](const std::vector<ChunkShape>& a, const std::vector<ChunkShape>& b) {
        return std::equal(a.begin(), a.end(), b.begin(), [&](const ChunkShape& x, const ChunkShape& y) {
            return x.layers == y.layers && x.embedding == y.embedding && x.head == y.head
                && dense_layers(plan_.model, x.first_layer, x.layers)
                == dense_layers(plan_.model, y.first_layer, y.layers);
        });
    };
    for (std::size_t stage = 0; stage < stages; ++stage) {
        std::vector<ChunkShape> own;
        for (std::size_t chunk = stage; chunk < chunks; chunk += stages)
            own.push_back(shapes[chunk]);
        const bool like_the_last = !runs_.empty() && same(runs_.back().shapes, own);
        if (like_the_last && layout.virtual_stages == 1) {
            ++runs_.back().stages;
            continue;
        }
        const auto step
            = like_the_last ? runs_.back().step : std::make_shared<const StepTerms>(terms_.step(plan_, own));
        runs_.push_back({std::move(own), int(stage), 1, step});
    }
}

const LayoutEvaluator::Actions& LayoutEvaluator::actions()
{
    const Training& training = plan_.training;
    const Layout& layout = plan_.layout;
    const bool fresh = actions_ && actions_->schedule == training.schedule && actions_->stages == layout.pp
        && actions_->virtual_stages == layout.virtual_stages && actions_->micro_batches == training.micro_batches;
    if (!fresh) {
        actions_ = Actions{training.schedule, layout.pp, layout.virtual_stages, training.micro_batches, {}, {}};
        // check() has seen to it that there is such a schedule.
        auto lists = make_schedule(training.schedule, layout.pp, layout.virtual_stages, training.micro_batches);
        if (lists) {
            actions_->lists = *std::move(lists);
            actions_->order.emplace(actions_->lists, layout.virtual_stages);
        }
    }
    return *actions_;
}

void LayoutEvaluator::collect_terms()
{
    if (runs_.empty())
        find_runs();
    chunks_.clear();
    for (const Run& run : runs_) {
        for (const ChunkShape& shape : run.shapes)
            chunks_.push_back(&terms_.chunk(plan_, shape));
    }
}

// Largest sum of what micro-batches keep and what runs, on a run's first stage; `index`: of its first chunk in chunks_.
double LayoutEvaluator::peak_of(const Run& run, std::size_t index)
{
    if (has_closed_form()) {
        const ChunkTerms& chunk = *chunks_[index];
        const int micro_batches = plan_.training.micro_batches;
        const bool gpipe = plan_.training.schedule == Schedule::gpipe;
        const int in_flight = gpipe ? micro_batches : std::min(micro_batches, plan_.layout.pp - run.first_stage);
        return in_flight * chunk.kept + std::max(chunk.in_forward, chunk.in_backward);
    }
    double alive = 0, peak = 0;
    for (const Action& action : actions().lists[static_cast<std::size_t>(run.first_stage)]) {
        const ChunkTerms& chunk = *chunks_[index + static_cast<std::size_t>(action.chunk / plan_.layout.pp)];
        if (action.kind == ActionKind::forward) {
            alive += chunk.kept;
            peak = std::max(peak, alive + chunk.in_forward);
        } else {
            peak = std::max(peak, alive + chunk.in_backward);
            alive -= chunk.kept;
        }
    }
    return peak;
}

void LayoutEvaluator::fill_memory()
{
    const double overhead = device_overhead_gib(plan_.layout, terms_.context().constants);
    const MemoryConvention convention = plan_.stack.memory_convention;
    LayoutFigures& figures = evaluation_.figures;
    const auto look = [&](const Run& run, std::size_t index) {
        const double peak = std::max(peak_of(run, index), run.step->in_update);
        const double allocated = (run.step->held + peak) / kGib;
        const double device = allocated * fragmentation_ + overhead;
        figures.memory_device_gib = std::max(figures.memory_device_gib, device);
        return convention == MemoryConvention::peak_allocated ? allocated
            : convention == MemoryConvention::peak_reserved   ? allocated * fragmentation_
                                                              : device;
    };
    const int told = plan_.stack.memory_stage;
    double of_told = 0;
    std::size_t index = 0;
    for (const Run& run : runs_) {
        const double published = look(run, index);
        figures.memory_gib = std::max(figures.memory_gib, published);
        if (told == run.first_stage) {
            of_told = published;
        } else if (told > run.first_stage && told < run.first_stage + run.stages) {
            Run own = run; // later stages of a run keep fewer micro-batches
            own.first_stage = told;
            of_told = look(own, index);
        }
        index += run.shapes.size();
    }
    if (of_told > 0)
        figures.memory_gib = of_told;
    figures.fit = judge_fit(figures.memory_device_gib, plan_.cluster.gpu.memory_gib);
}

void LayoutEvaluator::fill_times()
{
    const Constants& constants = terms_.context().constants;
    pressure_ = memory_pressure(evaluation_.figures.memory_device_gib, plan_.cluster.gpu.memory_gib)
        * constants[Constant::allocator_pressure];
    times_.clear();
    std::size_t index = 0;
    for (const Run& run : runs_) {
        StageRun stage{run.stages, 0, 0};
        for (std::size_t i = 0; i < run.shapes.size(); ++i, ++index) {
            stage.forward_s += chunks_[index]->forward.under(pressure_);
            stage.backward_s += chunks_[index]->backward.under(pressure_);
        }
        times_.push_back(stage);
    }
}

// A stage does all of its work, after the first micro-batch has come to it through the first chunks of the stages
// before, and before the last one has gone back through them.
double LayoutEvaluator::bound() const
{
    const int micro_batches = plan_.training.micro_batches;
    double way = 0, longest = 0;
    std::size_t index = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        const double busy = micro_batches * (times_[i].forward_s + times_[i].backward_s);
        const double first = chunks_[index]->forward.under(pressure_) + chunks_[index]->backward.under(pressure_);
        longest = std::max(longest, way + busy);
        way += runs_[i].stages * first;
        index += runs_[i].shapes.size();
    }
    return longest;
}

void LayoutEvaluator::fill_step_time()
{
    const Constants& constants = terms_.context().constants;
    LayoutFigures& figures = evaluation_.figures;
    const double hop = plan_.layout.pp > 1 ? chunks_[0]->hop : 0;
    std::size_t index = 0;
    std::vector<double> ends;
    if (has_closed_form()) {
        ends = *pipeline_ends(plan_.training.schedule, times_, plan_.training.micro_batches, hop);
    } else {
        ScheduleTimes times;
        times.send_receive_s = hop;
        times.chunks.resize(plan_.layout.stage_layers.size());
        for (const Run& run : runs_) {
            for (const ChunkShape& shape : run.shapes) {
                const ChunkTimes chunk{
                    chunks_[index]->forward.under(pressure_), chunks_[index]->backward.under(pressure_), 0};
                // Without virtual stages a run may hold several stages of one chunk each.
                for (int stage = 0; stage < run.stages; ++stage)
                    times.chunks[static_cast<std::size_t>(shape.chunk + stage)] = chunk;
                ++index;
            }
        }
        const ScheduleOrder::Ends all = actions().order->time(times);
        for (const Run& run : runs_)
            ends.push_back(all.stage_s[static_cast<std::size_t>(run.first_stage)]);
    }
    double barrier = 0;
    std::array<double, 4> slowest{};
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        const auto exposed = exposed_by_kind(
            *runs_[i].step, times_[i].forward_s, times_[i].backward_s, constants[Constant::overlap_slowdown]);
        using enum StepTerms::Item::Kind;
        barrier = std::max(barrier, ends[i] + exposed[static_cast<std::size_t>(reduce)]);
        for (const auto kind : {gather, optimizer, other})
            slowest[static_cast<std::size_t>(kind)]
                = std::max(slowest[static_cast<std::size_t>(kind)], exposed[static_cast<std::size_t>(kind)]);
    }
    using enum StepTerms::Item::Kind;
    figures.step_time_s = barrier;
    for (const auto kind : {gather, optimizer, other})
        figures.step_time_s += slowest[static_cast<std::size_t>(kind)];
}

const Evaluation& LayoutEvaluator::evaluate()
{
    return evaluate([](const LayoutFigures&) { return true; });
}

const Evaluation& LayoutEvaluator::evaluate(const std::function<bool(const LayoutFigures&)>& worth)
{
    if (const Evaluation* broken = broken_rule())
        return *broken;
    evaluation_.outcome = LayoutOutcome::evaluated;
    evaluation_.figures = {};
    evaluation_.code.clear();
    const bool formula = has_closed_form();
    if (!is_simulated_whole() || (!formula && !actions().order)) {
        ++ways_.reference;
        evaluation_ = evaluate_by_simulation(plan_);
        return evaluation_;
    }
    collect_terms();
    fill_memory();
    if (evaluation_.figures.fit == Fit::no) {
        evaluation_.outcome = LayoutOutcome::does_not_fit;
        return evaluation_;
    }
    fill_times();
    if (!formula) {
        evaluation_.figures.step_time_s = bound();
        if (!worth(evaluation_.figures)) {
            evaluation_.outcome = LayoutOutcome::bounded;
            return evaluation_;
        }
    }
    ++(formula ? ways_.formula : ways_.timed);
    fill_step_time();
    return evaluation_;
}

} // namespace fourfold
