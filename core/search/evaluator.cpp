// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/evaluator.h"

#include "core/base/parallel.h"
#include "core/memory/replay.h"
#include "core/memory/walk.h"
#include "core/predict/fit.h"
#include "core/predict/step_time.h"
#include "core/program/sharding_operations.h"
#include "core/schedule/schedules.h"

#include <algorithm>
#include <cmath>

namespace fourfold {
namespace {

bool same_degrees(const Candidate& a, const Candidate& b)
{
    return a.tp == b.tp && a.cp == b.cp && a.pp == b.pp && a.dp == b.dp && a.ep == b.ep;
}

// Whatever is the same for two schedules is a column of the table: those that place chunks and split the backward alike
// cut a model into the same stages. Where all micro-batches are held at once, so are their logits.
bool same_stages(Schedule a, Schedule b)
{
    const ScheduleTraits &one = traits_of(a), &other = traits_of(b);
    return one.order == other.order && one.splits_backward == other.splits_backward
        && (one.in_flight == InFlight::replayed) == (other.in_flight == InFlight::replayed)
        && (one.in_flight == InFlight::all) == (other.in_flight == InFlight::all);
}

std::size_t at(int i)
{
    return static_cast<std::size_t>(i);
}

// Most actions whose order is kept: about 30 bytes each.
constexpr std::size_t kKnownSteps = 100000;

// Does the last micro-batch leave through the chunks that it came through, in one backward each?
bool leaves_as_it_came(Schedule schedule)
{
    const ScheduleTraits& traits = traits_of(schedule);
    return !traits.splits_backward && traits.order == ChunkOrder::loop;
}

} // namespace

LayoutFigures figures_of(const Prediction& prediction)
{
    return {prediction.step_time_s.value_or(0), prediction.memory_gib.value_or(0),
        prediction.memory_device_gib.value_or(0), prediction.fit};
}

Evaluation evaluate_by_simulation(const ResolvedPlan& plan, std::set<std::string>& codes)
{
    Evaluation evaluation;
    const Prediction prediction = predict(plan);
    const LayoutFigures figures = figures_of(prediction);
    evaluation.figures = figures;
    evaluation.figures.step_time_s = 0; // of a layout that breaks a rule
    for (const Reason& reason : prediction.reasons) {
        if (reason.code == "memory")
            continue;
        evaluation.code = *codes.insert(reason.code).first;
        return evaluation;
    }
    evaluation.figures = figures;
    evaluation.outcome = prediction.fit == Fit::no ? LayoutOutcome::does_not_fit : LayoutOutcome::evaluated;
    return evaluation;
}

LayoutEvaluator::LayoutEvaluator(const ResolvedPlan& base, const SearchSpace& space)
    : base_(base)
    , space_(space)
    , plan_(base)
    , rules_(base)
    , terms_(base)
{
    fragmentation_ = fragmentation_of(base);
}

const ResolvedPlan& LayoutEvaluator::set(const Candidate& candidate)
{
    const bool degrees = placed_ && same_degrees(*placed_, candidate);
    const bool mesh = degrees && placed_->order == candidate.order;
    const bool stages
        = mesh && placed_->sharding == candidate.sharding && placed_->virtual_stages == candidate.virtual_stages;
    const Schedule before = plan_.training.schedule;
    if (stages)
        place_batch(candidate, base_, plan_);
    else if (mesh)
        place_stages(candidate, base_, plan_);
    else
        place(candidate, space_, base_, plan_);
    if (!stages || before != candidate.schedule)
        rules_.set_layout(plan_);
    if (!mesh)
        hops_.clear();
    if (!degrees)
        known_stages_.clear();
    else if (!mesh) { // the same stages lie elsewhere on the nodes
        for (KnownStages& known : known_stages_)
            known.stages.move();
    }
    if (!stages || !same_stages(before, candidate.schedule))
        stages_ = nullptr;
    placed_ = candidate;
    return plan_;
}

bool LayoutEvaluator::has_formula() const
{
    return has_pipeline_formula(plan_.training.schedule, plan_.layout.pp, plan_.layout.virtual_stages);
}

// Can the layout be composed of terms? Not where their memory goes by how many micro-batches a step has: terms are
// kept for all of those.
bool LayoutEvaluator::composes() const
{
    const Training& training = plan_.training;
    const Layout& layout = plan_.layout;
    const CostContext& context = terms_.context();
    return !training.recompute_layers && training.recompute_every == 1 && !training.offload_layers
        && !gradients_go_at_once(training) && traits_of(training.schedule).generator != nullptr
        && context.peak_flops > 0 && context.memory_bytes_s > 0
        && (layout.pp == 1 || core_share(plan_, 1, cores_here()) <= 1)
        && (has_formula() || 3.0 * simulated_ * layout.pp * layout.virtual_stages <= kMostListedPasses);
}

void LayoutEvaluator::find_stages()
{
    if (stages_ != nullptr)
        return;
    terms_.set_layout(plan_);
    const Training& training = plan_.training;
    const auto known = std::find_if(known_stages_.begin(), known_stages_.end(), [&](const KnownStages& stages) {
        return stages.sharding == training.sharding && stages.virtual_stages == plan_.layout.virtual_stages
            && same_stages(stages.schedule, training.schedule);
    });
    if (known != known_stages_.end()) {
        stages_ = &known->stages;
    } else {
        known_stages_.push_back({training.sharding, plan_.layout.virtual_stages, training.schedule, {}});
        stages_ = &known_stages_.back().stages;
        stages_->find(plan_, terms_);
    }
    overhead_gib_ = device_overhead_gib(plan_, terms_.context().constants);
}

const LayoutEvaluator::Actions& LayoutEvaluator::actions()
{
    const Training& training = plan_.training;
    const Layout& layout = plan_.layout;
    const auto known = std::find_if(known_actions_.begin(), known_actions_.end(), [&](const Actions& actions) {
        return actions.schedule == training.schedule && actions.stages == layout.pp
            && actions.virtual_stages == layout.virtual_stages && actions.micro_batches == simulated_;
    });
    if (known != known_actions_.end()) {
        known_actions_.splice(known_actions_.begin(), known_actions_, known);
        return known_actions_.front();
    }
    // check() has seen to it that there is such a schedule.
    auto lists = *make_schedule(training.schedule, layout.pp, layout.virtual_stages, simulated_);
    ScheduleOrder order(lists, layout.virtual_stages);
    known_steps_ += order.steps();
    known_actions_.push_front(
        {training.schedule, layout.pp, layout.virtual_stages, simulated_, std::move(lists), std::move(order)});
    while (known_steps_ > kKnownSteps && known_actions_.size() > 1) {
        known_steps_ -= known_actions_.back().order.steps();
        known_actions_.pop_back();
    }
    return known_actions_.front();
}

double LayoutEvaluator::replayed_peak(std::size_t run, int stage)
{
    const auto kinds = stages_->chunks_of(run);
    double peak = 0;
    const auto look = [&](double bytes) { peak = std::max(peak, bytes); };
    walk_actions(
        std::span<const Action>(actions().lists[at(stage)]), 0.0,
        [&](int chunk) -> const ChunkBytes* { return &bytes_[at(kinds[at(chunk / plan_.layout.pp)])]; },
        [&](std::size_t, Instant, double alive, double extra) { look(alive + extra); },
        [](const ChunkBytes&, int, int) {}, [&](std::size_t, double alive) { look(alive); });
    return peak;
}

// Largest sum of what micro-batches keep and what runs, on a stage of a run.
double LayoutEvaluator::peak_of(std::size_t run, int stage)
{
    const int pp = plan_.layout.pp;
    const auto kinds = stages_->chunks_of(run);
    const InFlight rule = traits_of(plan_.training.schedule).in_flight;
    if (pp > 1 && rule == InFlight::replayed)
        return replayed_peak(run, stage);
    if (kinds.size() > 1) {
        rank_bytes_.clear();
        for (const int kind : kinds)
            rank_bytes_.push_back(bytes_[at(kind)]);
        return interleaved_peak(rank_bytes_, stage, pp, simulated_);
    }
    const ChunkBytes& chunk = bytes_[at(kinds.front())];
    const bool all = pp > 1 && rule == InFlight::all;
    const int in_flight = all ? plan_.training.micro_batches : std::min(simulated_, pp - stage);
    return in_flight * chunk.kept + std::max(chunk.in_forward, chunk.in_backward);
}

void LayoutEvaluator::fill_memory()
{
    const MemoryConvention convention = plan_.stack.memory_convention;
    LayoutFigures& figures = evaluation_.figures;
    bytes_.clear();
    for (const ChunkKind& kind : stages_->kinds())
        bytes_.push_back(terms_.bytes(plan_, kind));
    const bool by_batch = terms_.goes_by_batch(plan_);
    const auto look = [&](std::size_t run, int stage) {
        const LayoutStages::Run& here = stages_->runs()[run];
        const StageBytes bytes = by_batch ? terms_.stage_bytes(plan_, here.parameters) : here.bytes;
        const double allocated = (bytes.held + std::max(peak_of(run, stage), bytes.in_update)) / kGib;
        const double device = allocated * fragmentation_ + overhead_gib_;
        figures.memory_device_gib = std::max(figures.memory_device_gib, device);
        return convention == MemoryConvention::peak_allocated ? allocated
            : convention == MemoryConvention::peak_reserved   ? allocated * fragmentation_
                                                              : device;
    };
    const int told = plan_.stack.memory_stage;
    double of_told = 0;
    for (std::size_t run = 0; run < stages_->runs().size(); ++run) {
        const auto [first, stages] = std::pair(stages_->runs()[run].first_stage, stages_->runs()[run].stages);
        const double published = look(run, first); // later stages of a run hold no more
        figures.memory_gib = std::max(figures.memory_gib, published);
        if (told >= first && told < first + stages)
            of_told = told == first ? published : look(run, told);
    }
    if (of_told > 0)
        figures.memory_gib = of_told;
    figures.fit = judge_fit(figures.memory_device_gib, plan_.cluster.gpu.memory_gib);
}

void LayoutEvaluator::fill_times()
{
    const Constants& constants = terms_.context().constants;
    const double slowdown = constants[Constant::overlap_slowdown];
    const double pressure = memory_pressure(evaluation_.figures.memory_device_gib, plan_.cluster.gpu.memory_gib)
        * constants[Constant::allocator_pressure];
    stages_->price(plan_, terms_);
    forwards_.clear();
    backwards_.clear();
    weight_products_.clear();
    for (std::size_t kind = 0; kind < stages_->kinds().size(); ++kind) {
        const ChunkPasses passes = terms_.passes(plan_, stages_->kinds()[kind]);
        const ChunkAdditions& additions = stages_->additions(kind);
        forwards_.push_back(compose(passes.forward, additions.forward, slowdown, pressure));
        backwards_.push_back(compose(passes.backward, additions.backward, slowdown, pressure));
        weight_products_.push_back(passes.backward.weights);
    }
    times_.clear();
    loads_.clear();
    usage_.clear();
    const bool defers = traits_of(plan_.training.schedule).splits_backward;
    for (std::size_t run = 0; run < stages_->runs().size(); ++run) {
        StageLoad stage;
        StageUsage& usage = usage_.emplace_back();
        usage.stages = stages_->runs()[run].stages;
        for (const int kind : stages_->chunks_of(run)) {
            add_chunk(usage, forwards_[at(kind)].usage, backwards_[at(kind)].usage, backwards_[at(kind)].weight_usage,
                defers);
            stage.forward_s += forwards_[at(kind)].seconds;
            stage.backward_s += backwards_[at(kind)].seconds;
        }
        stage.add(
            stages_->step(run), slowdown, [&](const StepTerm& term, double, double) { usage.step.add(term.usage); });
        times_.push_back({stages_->runs()[run].stages, stage.forward_s, stage.backward_s});
        loads_.push_back(stage);
    }
}

double LayoutEvaluator::hop()
{
    if (plan_.layout.pp == 1)
        return 0;
    const std::pair wanted(plan_.training.micro_batch, plan_.layout.virtual_stages > 1);
    for (const auto& [kind, seconds] : hops_) {
        if (kind == wanted)
            return seconds;
    }
    return hops_.emplace_back(wanted, terms_.hop(plan_)).second;
}

std::span<const double> LayoutEvaluator::formula_ends(double hop, double* length_without_hops)
{
    if (length_without_hops != nullptr)
        *length_without_hops = std::ranges::max(pipeline_ends_(plan_.training.schedule, times_, simulated_, 0));
    return pipeline_ends_(plan_.training.schedule, times_, simulated_, hop);
}

std::span<const double> LayoutEvaluator::timed_ends(double hop, double* length_without_hops)
{
    ScheduleTimes& times = schedule_times_;
    times.send_receive_s = hop;
    times.chunks.clear();
    for (const int kind : stages_->kind_of_chunk()) {
        const ComposedPass& backward = backwards_[at(kind)];
        times.chunks.push_back({forwards_[at(kind)].seconds, backward.seconds,
            weight_gradient_seconds(
                backward.unstretched, backward.fixed, weight_products_[at(kind)], backward.seconds)});
    }
    actions().order.time(times, order_workspace_, order_ends_, length_without_hops);
    ends_.clear();
    for (const LayoutStages::Run& run : stages_->runs()) {
        const auto begin = order_ends_.stage_s.begin() + run.first_stage;
        ends_.push_back(*std::max_element(begin, begin + run.stages));
    }
    return ends_;
}

std::span<const double> LayoutEvaluator::least_ends(double hop)
{
    bounds_.clear();
    for (std::size_t run = 0; run < times_.size(); ++run) {
        const LayoutStages::Run& stages = stages_->runs()[run];
        const auto first = at(stages_->chunks_of(run).front());
        bounds_.push_back({stages.stages, times_[run].forward_s + times_[run].backward_s + stages.receives * hop,
            forwards_[first].seconds + (stages.first_stage > 0 ? hop : 0), backwards_[first].seconds + hop});
    }
    bound_ends(bounds_, simulated_, leaves_as_it_came(plan_.training.schedule), ends_);
    return ends_;
}

double LayoutEvaluator::busiest_period() const
{
    return loads_[busiest(loads_, plan_.training.micro_batches)].period();
}

double LayoutEvaluator::least_step_time()
{
    const int beyond = plan_.training.micro_batches - simulated_;
    return step_end(least_ends(hop()), loads_, beyond > 0 ? beyond * busiest_period() : 0).end();
}

double LayoutEvaluator::exact_step_time(PipelineEndsOf ends)
{
    const double hop = this->hop();
    const int beyond = plan_.training.micro_batches - simulated_;
    double without = 0, extension = 0;
    const std::span<const double> with = (this->*ends)(hop, beyond > 0 && hop > 0 ? &without : nullptr);
    if (beyond > 0)
        extension = steady_extension(beyond, busiest_period(), std::ranges::max(with), without);
    return std::max(step_end(with, loads_, extension).end(), roofline(usage_, plan_.training.micro_batches).step_s);
}

const Evaluation& LayoutEvaluator::evaluate(bool exactly)
{
    evaluation_ = {};
    evaluation_.code = rules_.broken(plan_);
    if (!evaluation_.code.empty())
        return evaluation_;
    simulated_ = micro_batches_to_simulate(plan_);
    if (!composes()) {
        ++ways_.reference;
        evaluation_ = evaluate_by_simulation(plan_, codes_);
        return evaluation_;
    }
    find_stages();
    fill_memory();
    evaluation_.outcome = LayoutOutcome::does_not_fit;
    if (evaluation_.figures.fit == Fit::no)
        return evaluation_;
    fill_times();
    const bool formula = has_formula();
    if (!formula && !exactly) {
        evaluation_.outcome = LayoutOutcome::bounded;
        evaluation_.figures.step_time_s = least_step_time();
        return evaluation_;
    }
    ++(formula ? ways_.formula : ways_.timed);
    evaluation_.outcome = LayoutOutcome::evaluated;
    evaluation_.figures.step_time_s
        = exact_step_time(formula ? &LayoutEvaluator::formula_ends : &LayoutEvaluator::timed_ends);
    return evaluation_;
}

} // namespace fourfold
