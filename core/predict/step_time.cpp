// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/step_time.h"
#include "core/schedule/rolling_schedule.h"

#include <algorithm>

namespace fourfold {
namespace {

std::size_t index(int i)
{
    return static_cast<std::size_t>(i);
}

// One stage: its passes summed over its chunks, and its once-a-step work by what it waits for.
struct StageCost {
    double forward_s = 0, backward_s = 0; // one micro-batch through all chunks
    PassTime micro_batch; // both passes
    double reduce_s = 0, optimizer_s = 0, gather_s = 0, other_s = 0; // exposed
    PassTime step;
    [[nodiscard]] double busy(double micro_batches) const
    {
        return micro_batches * (forward_s + backward_s) + reduce_s + optimizer_s + gather_s + other_s;
    }
};

void add(PassTime& to, const PassTime& what)
{
    for (std::size_t i = 0; i < to.exposed.size(); ++i) {
        to.exposed[i] += what.exposed[i];
        to.hidden[i] += what.hidden[i];
    }
}

void add_step_work(StageCost& cost, const StageProgram& stage, const CostContext& context)
{
    for (const StepOperationTime& time : step_operation_times(stage, cost.forward_s, cost.backward_s, context)) {
        const Operation& operation = *time.operation;
        cost.step.exposed[static_cast<std::size_t>(operation.part)] += time.exposed;
        cost.step.hidden[static_cast<std::size_t>(operation.part)] += time.hidden;
        const Collective* collective = operation.as<Collective>();
        if (operation.is<OptimizerUpdate>())
            cost.optimizer_s += time.exposed;
        else if (collective == nullptr)
            cost.other_s += time.exposed;
        else if (collective->kind == Collective::all_gather)
            cost.gather_s += time.exposed;
        else
            cost.reduce_s += time.exposed;
    }
}

double pipeline_hop(const std::vector<StageProgram>& program, const CostContext& context)
{
    for (const ChunkProgram& chunk : program[0].chunks) {
        for (const Operation& operation : chunk.operations) {
            if (operation.part == Part::pp)
                return price(operation, context).seconds;
        }
    }
    return 0;
}

std::vector<double> stage_ends(const Timeline& timeline)
{
    std::vector<double> ends(index(timeline.stages), 0);
    for (const Span& span : timeline.spans)
        ends[index(span.stage)] = std::max(ends[index(span.stage)], span.end_s);
    return ends;
}

// What follows the last backward.
struct Tail {
    double barrier = 0, optimizer = 0, gather = 0, other = 0;
    [[nodiscard]] double end() const { return barrier + optimizer + gather + other; }
};

Tail tail_of(const std::vector<double>& ends, const std::vector<StageCost>& costs, double extension)
{
    Tail tail;
    for (std::size_t s = 0; s < costs.size(); ++s) {
        tail.barrier = std::max(tail.barrier, ends[s] + extension + costs[s].reduce_s);
        tail.optimizer = std::max(tail.optimizer, costs[s].optimizer_s);
        tail.gather = std::max(tail.gather, costs[s].gather_s);
        tail.other = std::max(tail.other, costs[s].other_s);
    }
    return tail;
}

void append(Timeline& timeline, const Tail& tail, const std::vector<double>& ends, const std::vector<StageCost>& costs,
    double extension)
{
    std::vector<Span> spans;
    for (std::size_t s = 0; s < costs.size(); ++s) {
        const auto span = [&](SpanKind kind, double start, double seconds) {
            if (seconds > 0)
                spans.push_back({int(s), kind, -1, 0, start, start + seconds});
        };
        span(SpanKind::gradient_reduce, ends[s] + extension, costs[s].reduce_s);
        span(SpanKind::optimizer, tail.barrier, costs[s].optimizer_s);
        span(SpanKind::parameter_gather, tail.barrier + tail.optimizer, costs[s].gather_s);
        span(SpanKind::other, tail.barrier + tail.optimizer + tail.gather, costs[s].other_s);
    }
    timeline.spans.insert(timeline.spans.end(), spans.begin(), spans.end());
    std::stable_sort(
        timeline.spans.begin(), timeline.spans.end(), [](const Span& a, const Span& b) { return a.stage < b.stage; });
}

// When the stages end their passes: timed in a known order, from a simulation that keeps its spans, or from one that
// keeps nothing. `length_without_hops`: where not null, the length were hops to take no time.
ScheduleOrder::Ends run(const PlanSchedule& schedule, ScheduleTimes times, const ScheduleOrder* order,
    Timeline& timeline, double* length_without_hops)
{
    if (order != nullptr) {
        ScheduleOrder::Workspace workspace;
        ScheduleOrder::Ends ends;
        order->time(times, workspace, ends, length_without_hops);
        return ends;
    }
    const int virtual_stages = schedule.shape.virtual_stages;
    if (!schedule.listed()) {
        timeline.stages = schedule.shape.pp;
        return rolling_ends(schedule.shape, times, length_without_hops);
    }
    timeline = simulate(schedule.actions, times, virtual_stages);
    if (length_without_hops != nullptr) {
        times.send_receive_s = 0;
        *length_without_hops = simulate(schedule.actions, times, virtual_stages).length_s;
    }
    return {timeline.length_s, stage_ends(timeline)};
}

} // namespace

StepTime step_time(const ResolvedPlan& plan, const std::vector<StageProgram>& program, const PlanSchedule& schedule,
    const CostContext& context, const ScheduleOrder* order)
{
    const int pp = plan.layout.pp, virtual_stages = plan.layout.virtual_stages;
    ScheduleTimes times;
    times.chunks.resize(index(pp * virtual_stages));
    std::vector<StageCost> costs(program.size());
    const ChunkProgram* priced = nullptr; // the chunk that `time` was priced for
    ChunkTime time;
    for (std::size_t s = 0; s < program.size(); ++s) {
        for (const ChunkProgram& chunk : program[s].chunks) {
            // Stages in the middle of a pipeline often do the same work.
            if (priced == nullptr || priced->operations != chunk.operations) {
                priced = &chunk;
                time = chunk_time(chunk, context);
            }
            times.chunks[index(chunk.chunk)]
                = {time.forward.seconds(), time.backward.seconds(), time.backward.weight_gradient_s};
            costs[s].forward_s += time.forward.seconds();
            costs[s].backward_s += time.backward.seconds();
            add(costs[s].micro_batch, time.forward);
            add(costs[s].micro_batch, time.backward);
        }
        add_step_work(costs[s], program[s], context);
    }

    const double micro_batches = plan.training.micro_batches;
    const int simulated = schedule.shape.micro_batches;
    StepTime result;
    for (std::size_t s = 1; s < costs.size(); ++s) {
        if (costs[s].busy(micro_batches) > costs[index(result.reference_stage)].busy(micro_batches))
            result.reference_stage = int(s);
    }
    const StageCost& reference = costs[index(result.reference_stage)];
    const double period = reference.forward_s + reference.backward_s;

    // Twice, without and with the time that activations travel: the difference is what the pipeline's hops expose.
    double without_hops = 0;
    const double hop = pp > 1 ? pipeline_hop(program, context) : 0;
    times.send_receive_s = hop;
    const ScheduleOrder::Ends ends
        = run(schedule, std::move(times), order, result.timeline, hop > 0 ? &without_hops : nullptr);
    const double pipeline_s = ends.length_s;
    // Beyond the simulated micro-batches the steady state repeats, one period of the busiest stage each; hops delay it
    // as much as they did in the simulated part.
    const double stretch = without_hops > 0 ? pipeline_s / without_hops : 1;
    const double extension = (micro_batches - simulated) * period * stretch;
    const Tail tail = tail_of(ends.stage_s, costs, extension);
    const double length = tail.end();
    if (order == nullptr && schedule.listed())
        append(result.timeline, tail, ends.stage_s, costs, extension);

    for (int part = 0; part < kParts; ++part) {
        const auto p = static_cast<std::size_t>(part);
        result.exposed.seconds[p] = micro_batches * reference.micro_batch.exposed[p] + reference.step.exposed[p];
        result.hidden.seconds[p] = micro_batches * reference.micro_batch.hidden[p] + reference.step.hidden[p];
    }
    if (hop > 0) {
        const double exposed = (pipeline_s - without_hops) * (1 + extension / pipeline_s);
        result.exposed[Part::pp] = std::min(exposed, std::max(0.0, length - result.exposed.total()));
        const double traffic = 2 * hop * micro_batches * virtual_stages;
        result.hidden[Part::pp] = std::max(0.0, traffic - result.exposed[Part::pp]);
    }
    if (pp > 1) {
        result.exposed[Part::bubble] = std::max(0.0, length - result.exposed.total());
        const double busy = micro_batches * period;
        const double pipelined = pipeline_s + extension;
        result.bubble_fraction
            = pipelined > 0 ? std::max(0.0, (pipelined - result.exposed[Part::pp] - busy) / pipelined) : 0;
    }
    result.timeline.length_s = result.exposed.total();
    return result;
}

} // namespace fourfold
