// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/prices.h"
#include "core/cost/runtime_switches.h"
#include "core/model/flops.h"
#include "core/plan/plan_schedule.h"
#include "core/plan/trainable.h"
#include "core/predict/fit.h"
#include "core/predict/interval.h"
#include "core/predict/pipeline_advice.h"
#include "core/predict/prediction.h"
#include "core/predict/shape_rules.h"
#include "core/predict/step_time.h"
#include "core/program/expert_imbalance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fourfold {
namespace {

// Actions that are simulated one by one; a batch of more micro-batches repeats the steady state.
constexpr double kMaxActions = 400'000;

// Rules whose breach leaves no program to build: which GPU does what is unknown.
bool can_be_laid_out(const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    const auto& stages = layout.stage_layers;
    if (layout.tp < 1 || layout.cp < 1 || layout.pp < 1 || layout.dp < 1 || layout.ep < 1 || layout.etp < 1
        || layout.virtual_stages < 1)
        return false;
    if (layout.gpus() != plan.gpus || plan.training.micro_batches < 1 || plan.training.micro_batch < 1)
        return false;
    if (stages.size() != static_cast<std::size_t>(layout.pp) * static_cast<std::size_t>(layout.virtual_stages))
        return false;
    if (std::any_of(stages.begin(), stages.end(), [](int layers) { return layers < 0; }))
        return false;
    return std::accumulate(stages.begin(), stages.end(), int64_t(0)) == plan.model.layers && plan.model.layers > 0;
}

void add_memory(Prediction& prediction, const std::vector<StageProgram>& program, const PlanSchedule& schedule)
{
    const ResolvedPlan& plan = prediction.plan;
    const MemoryAnswer memory = memory_answer(plan, program, schedule);
    prediction.memory_by_stage = memory.stages;
    prediction.memory_gib = memory.published_gib;
    prediction.memory_device_gib = memory.device_gib;
    prediction.fit = judge_fit(memory.device_gib, prediction.memory_capacity_gib);
    if (prediction.fit == Fit::no) {
        const StageMemory& stage = memory.stages[static_cast<std::size_t>(memory.device_stage)];
        prediction.reasons.push_back({"memory", "layout",
            text_of(
                "stage %d needs %.1f GiB on the device, the GPU has %.1f GiB (weights %.1f, gradients %.1f, optimizer "
                "%.1f, activations %.1f, other %.1f)",
                stage.stage, memory.device_gib, prediction.memory_capacity_gib, stage.weights, stage.gradients,
                stage.optimizer, stage.activations, stage.other),
            ""});
    }
}

void add_throughput(Prediction& prediction, double step_time_s)
{
    const ResolvedPlan& plan = prediction.plan;
    const double tps = plan.tokens_per_step() / (step_time_s * plan.gpus);
    prediction.step_time_s = step_time_s;
    prediction.tps_per_gpu = tps;
    const int64_t seq_len = plan.training.seq_len;
    prediction.tflops_per_gpu
        = tps * reported_flops_per_token(plan.model, plan.padded_vocab, seq_len, plan.training.flop_convention) / 1e12;
    const double model_flops = tps * model_flops_per_token(plan.model, seq_len);
    const Precision precision = plan.training.precision;
    if (is_of_products(precision)) {
        prediction.mfu_bf16_peak = model_flops / plan.cluster.gpu.peak_flops(Precision::bf16);
        return;
    }
    const double peak = plan.cluster.gpu.peak_flops(precision);
    if (!(peak > 0))
        return;
    prediction.mfu = model_flops / peak;
    prediction.mfu_causal = tps * model_flops_per_token(plan.model, seq_len, true) / peak;
}

// The reference stage's operations with their formulas: one micro-batch of each chunk, then the end of the step.
std::vector<PricedOperation> explained(const StageProgram& stage, CostContext context)
{
    context.with_formulas = true;
    std::vector<PricedOperation> list;
    const auto add = [&](const std::vector<Operation>& operations) {
        for (const Operation& operation : operations) {
            Price priced = price(operation, context);
            if (priced.seconds > 0)
                list.push_back({operation, priced.seconds, std::move(priced.formula), std::move(priced.source)});
        }
    };
    for (const ChunkProgram& chunk : stage.chunks)
        add(chunk.operations);
    add(stage.step_operations);
    return list;
}

void add_time(Prediction& prediction, const std::vector<StageProgram>& program, const PlanSchedule& schedule)
{
    const ResolvedPlan& plan = prediction.plan;
    CostContext context(plan);
    if (prediction.memory_device_gib)
        context.pressure = memory_pressure(*prediction.memory_device_gib, prediction.memory_capacity_gib)
            * context.constants[Constant::allocator_pressure];
    if (!(context.peak_flops > 0) || !(context.memory_bytes_s > 0)) {
        prediction.reasons.push_back({"no_peak", "cluster.gpu.peak_tflops",
            "the GPU has no peak rate for precision " + to_text(plan.training.precision), ""});
        return;
    }
    StepTime step = step_time(plan, program, schedule, context);
    if (!std::isfinite(step.exposed.total()) || step.exposed.total() <= 0) {
        prediction.reasons.push_back(
            {"no_time", "cluster", "a step would take longer than a number can say: some rate is too small", ""});
        return;
    }
    prediction.time_by_part = step.exposed;
    prediction.time_hidden = step.hidden;
    prediction.bubble_fraction = step.bubble_fraction;
    prediction.least = step.least;
    prediction.at_least = step.at_least;
    if (step.at_least)
        prediction.warnings.push_back("the constants of stack " + plan.stack.id
            + " give less time than the hardware needs: the answer is the bound that "
            + std::string(words(step.least.limit)) + " set, which no run reaches");
    prediction.timeline = std::move(step.timeline);
    prediction.operations = explained(program[static_cast<std::size_t>(step.reference_stage)], context);
    add_throughput(prediction, step.exposed.total());
}

} // namespace

int micro_batches_to_simulate(const ResolvedPlan& plan)
{
    const double per_micro_batch = 2.0 * plan.layout.pp * plan.layout.virtual_stages;
    // A multiple of pp, for interleaved schedules, and enough for every stage to reach its steady state.
    const double most = std::max(4.0 * plan.layout.pp, kMaxActions / per_micro_batch);
    const int limit = int(most) / plan.layout.pp * plan.layout.pp;
    const int count = plan.training.micro_batches;
    return std::min(count, limit);
}

std::optional<SteadyPart> steady_part(const Prediction& prediction)
{
    const ResolvedPlan& plan = prediction.plan;
    return steady_part(prediction.timeline, plan.training.micro_batches - micro_batches_to_simulate(plan));
}

ScheduleShape simulated_shape(const ResolvedPlan& plan)
{
    return schedule_shape(plan, micro_batches_to_simulate(plan));
}

int micro_batches_held_beyond(const ResolvedPlan& plan, const PlanSchedule& schedule)
{
    const bool all = traits_of(schedule.shape.schedule).in_flight == InFlight::all && plan.layout.pp > 1;
    return all ? std::max(0, plan.training.micro_batches - schedule.shape.micro_batches) : 0;
}

double PartTimes::total() const
{
    return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

namespace {

// All but the confidence.
Prediction answer(const ResolvedPlan& plan)
{
    Prediction prediction;
    prediction.plan = plan;
    prediction.memory_capacity_gib = plan.cluster.gpu.memory_gib;
    prediction.reasons = check(plan);
    for (const std::string& name : runtime_switches(plan.run.environment).not_modelled)
        prediction.warnings.push_back("run.environment." + name + ": its effect on time and memory is not modelled");
    if (!can_be_laid_out(plan))
        return prediction;
    const bool structure_holds = prediction.reasons.empty();
    const int simulated = micro_batches_to_simulate(plan);
    const auto schedule = plan_schedule(plan, simulated);
    if (!schedule) {
        // What keeps a schedule from being generated is a broken rule of check() as well; files have rules of their
        // own.
        if (!plan.training.schedule_csv.empty() || structure_holds)
            prediction.reasons.push_back(broken_schedule(plan, schedule.error()));
        return prediction;
    }
    const std::vector<StageProgram> program = build_program(plan, schedule->stage_of_chunk);
    add_memory(prediction, program, *schedule);
    if (structure_holds)
        add_time(prediction, program, *schedule);
    if (!schedule->listed())
        prediction.warnings.push_back("no timeline: " + too_long_to_list(schedule->shape).message);
    for (std::string& advice : pipeline_advice(plan, prediction.bubble_fraction))
        prediction.warnings.push_back(std::move(advice));
    if (std::string warning = attention_warning(plan); !warning.empty())
        prediction.warnings.push_back(std::move(warning));
    for (std::string& warning : shape_warnings(plan))
        prediction.warnings.push_back(std::move(warning));
    if (structure_holds) // what is planned for the bundled trainer may be ahead of it
        for (const Reason& limit : trainer_limits_of_prediction(plan))
            prediction.warnings.push_back(limit.field + ": " + limit.message);
    prediction.feasible = prediction.reasons.empty();
    return prediction;
}

// What another routing makes of `value`, on its side of the range and in squares.
void widen(Range& range, double value, std::optional<double> other)
{
    if (!other || !(*other > 0))
        return;
    const double distance = std::log(*other / value);
    double& bound = distance > 0 ? range.high : range.low;
    const double width = added_in_squares(std::log(bound / value), distance);
    bound = value * std::exp(distance > 0 ? width : -width);
}

// Without a capacity, routing that favours some experts loads some ranks more than the mean that the answer is for. A
// router keeps its favourites from micro-batch to micro-batch, so that a step averages nothing out.
void add_routing(Prediction& prediction)
{
    const ResolvedPlan& plan = prediction.plan;
    constexpr double kRare = 0.05;
    const double most = expert_imbalance_at(plan, 1 - kRare);
    if (!(most > 0) || !prediction.step_time_s || !prediction.memory_gib)
        return;
    for (const double imbalance : {expert_imbalance_at(plan, kRare), most}) {
        const Prediction other = answer(with_expert_imbalance(plan, imbalance));
        if (prediction.interval) {
            Interval& interval = *prediction.interval;
            widen(interval.step_time_s, *prediction.step_time_s, other.step_time_s);
            interval.step_time_s.low = std::max(interval.step_time_s.low, prediction.least.step_s);
            const double tokens = *prediction.tps_per_gpu * *prediction.step_time_s;
            interval.tps_per_gpu = {tokens / interval.step_time_s.high, tokens / interval.step_time_s.low};
            widen(interval.memory_gib, *prediction.memory_gib, other.memory_gib);
        }
        if (imbalance == most && prediction.fit != Fit::no && other.fit == Fit::no)
            prediction.warnings.push_back(text_of(
                "uneven routing: where the busiest expert-parallel rank gets %.0f %% more tokens than the mean (one "
                "case in %.0f), it needs %.1f GiB on the device, and the GPU has %.1f GiB",
                most * 100, 1 / kRare, other.memory_device_gib.value_or(0), prediction.memory_capacity_gib));
    }
}

} // namespace

Prediction predict(const ResolvedPlan& plan)
{
    Prediction prediction = answer(plan);
    add_confidence(prediction);
    add_routing(prediction);
    return prediction;
}

} // namespace fourfold
