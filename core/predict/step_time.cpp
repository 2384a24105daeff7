// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/step_time.h"
#include "core/base/parallel.h"
#include "core/schedule/rolling_schedule.h"

#include <algorithm>

namespace fourfold {
namespace {

std::size_t index(int i)
{
    return static_cast<std::size_t>(i);
}

// Of one stage by Part: both passes of a micro-batch through all its chunks, and its once-a-step work.
struct StageParts {
    PassTime micro_batch, step;
};

void add(PassTime& to, const PassTime& what)
{
    for (std::size_t i = 0; i < to.exposed.size(); ++i) {
        to.exposed[i] += what.exposed[i];
        to.hidden[i] += what.hidden[i];
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

// The steady state that is not simulated takes its time in the middle of the passes: the pipeline fills before it and
// drains behind it.
void extend(Timeline& timeline, double pipeline_s, double extension)
{
    if (extension <= 0)
        return;
    for (Span& span : timeline.spans) {
        if (span.start_s >= pipeline_s / 2) {
            span.start_s += extension;
            span.end_s += extension;
        }
    }
}

void append(Timeline& timeline, const StepEnd& end, const std::vector<double>& ends,
    const std::vector<StageLoad>& loads, double extension)
{
    std::vector<Span> spans;
    for (std::size_t s = 0; s < loads.size(); ++s) {
        const auto span = [&](SpanKind kind, double start, StepWork work) {
            const double seconds = loads[s].of(work);
            if (seconds > 0)
                spans.push_back({int(s), kind, -1, 0, start, start + seconds});
        };
        span(SpanKind::gradient_reduce, ends[s] + extension, StepWork::reduce);
        span(SpanKind::optimizer, end.barrier, StepWork::optimizer);
        span(SpanKind::parameter_gather, end.barrier + end.optimizer, StepWork::gather);
        span(SpanKind::other, end.barrier + end.optimizer + end.gather, StepWork::other);
    }
    const auto passes = std::ptrdiff_t(timeline.spans.size());
    timeline.spans.insert(timeline.spans.end(), spans.begin(), spans.end());
    std::inplace_merge(timeline.spans.begin(), timeline.spans.begin() + passes, timeline.spans.end(),
        [](const Span& a, const Span& b) { return a.stage < b.stage; });
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
    if (length_without_hops != nullptr && schedule.shape.schedule != Schedule::csv) {
        rolling_ends(schedule.shape, times, length_without_hops); // its spans are of no interest
    } else if (length_without_hops != nullptr) {
        times.send_receive_s = 0;
        *length_without_hops = simulate(schedule.actions, times, virtual_stages).length_s;
    }
    return {timeline.length_s, stage_ends(timeline)};
}

// Ranks that share cores: who waits for another stage leaves its core to others. A step then takes the longer of the
// schedule with a core for each rank, and all ranks' work on all cores (Brent's theorem has the sum as upper bound).
// `length` and `loads` are those of a rank that always has to share.
double length_on_shared_cores(
    double length, std::span<const StageLoad> loads, double micro_batches, double hops_s, double share)
{
    double work = 0;
    for (const StageLoad& load : loads)
        work += load.busy(micro_batches) / double(loads.size());
    return std::min(length, std::max(length / share, work + hops_s));
}

// Makes the parts add up to the step, those that wait first.
void shorten(StepTime& step, double length)
{
    const double surplus = step.exposed.total() - length;
    if (surplus <= 0)
        return;
    const double waits = std::min(surplus, step.exposed[Part::bubble]);
    step.exposed[Part::bubble] -= waits;
    const double scale = length / step.exposed.total();
    for (double& seconds : step.exposed.seconds)
        seconds *= std::min(1.0, scale);
}

// No answer is faster than the roofline: what is missing counts as the work that sets it.
void raise(StepTime& step)
{
    const double missing = step.least.step_s - step.exposed.total();
    step.at_least = missing > 1e-9 * step.least.step_s;
    if (!step.at_least)
        return;
    Part part = Part::compute;
    if (step.least.limit == Limit::node_links || step.least.limit == Limit::network)
        part = static_cast<Part>(
            std::max_element(step.hidden.seconds.begin(), step.hidden.seconds.end()) - step.hidden.seconds.begin());
    step.exposed[part] += missing;
    step.hidden[part] = std::max(0.0, step.hidden[part] - missing);
}

} // namespace

StepTime step_time(const ResolvedPlan& plan, const std::vector<StageProgram>& program, const PlanSchedule& schedule,
    const CostContext& context, const ScheduleOrder* order)
{
    const int pp = plan.layout.pp, virtual_stages = plan.layout.virtual_stages;
    ScheduleTimes times;
    times.chunks.resize(index(pp * virtual_stages));
    std::vector<StageLoad> loads(program.size());
    std::vector<StageParts> parts(program.size());
    const double slowdown = context.constants[Constant::overlap_slowdown];
    std::vector<StageUsage> usage(program.size());
    const bool defers = !plan.training.schedule_csv.empty() || traits_of(plan.training.schedule).splits_backward;
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
            add_chunk(usage[s], time.forward.usage, time.backward.usage, time.backward.weight_usage, defers);
            loads[s].forward_s += time.forward.seconds();
            loads[s].backward_s += time.backward.seconds();
            add(parts[s].micro_batch, time.forward);
            add(parts[s].micro_batch, time.backward);
        }
        loads[s].add(step_terms(program[s].step_operations, context), slowdown,
            [&](const StepTerm& term, double exposed, double hidden) {
                usage[s].step.add(term.usage);
                parts[s].step.exposed[static_cast<std::size_t>(term.part)] += exposed;
                parts[s].step.hidden[static_cast<std::size_t>(term.part)] += hidden;
            });
    }

    const double micro_batches = plan.training.micro_batches;
    const int simulated = schedule.shape.micro_batches;
    StepTime result;
    const std::size_t reference_stage = busiest(loads, micro_batches);
    result.reference_stage = int(reference_stage);
    const StageParts& reference = parts[reference_stage];
    const double period = loads[reference_stage].period();

    // Twice, without and with the time that activations travel: the difference is what the pipeline's hops expose.
    double without_hops = 0;
    const double hop = pp > 1 ? pipeline_hop(program, context) : 0;
    times.send_receive_s = hop;
    const ScheduleOrder::Ends ends
        = run(schedule, std::move(times), order, result.timeline, hop > 0 ? &without_hops : nullptr);
    const double pipeline_s = ends.length_s;
    const double extension = steady_extension(micro_batches - simulated, period, pipeline_s, without_hops);
    const StepEnd end = step_end(ends.stage_s, loads, extension);
    const double length = end.end();
    if (order == nullptr && schedule.listed()) {
        extend(result.timeline, pipeline_s, extension);
        append(result.timeline, end, ends.stage_s, loads, extension);
    }

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
    if (plan.training.schedule_csv.empty()) // in a file the first chunks may come in any order
        result.least = roofline(usage, micro_batches);
    const double share = pp > 1 ? core_share(plan, context.constants[Constant::thread_scaling], cores_here()) : 1;
    if (share > 1) {
        const double hops = 2 * hop * micro_batches * virtual_stages * (pp - 1) / pp;
        shorten(result, length_on_shared_cores(length, loads, micro_batches, hops, share));
        result.bubble_fraction = std::min(result.bubble_fraction, result.exposed[Part::bubble] / length);
        result.least.step_s /= share;
        const double faster = result.exposed.total() / length; // of every pass, while other stages wait
        for (Span& span : result.timeline.spans) {
            span.start_s *= faster;
            span.end_s *= faster;
        }
    }
    raise(result);
    result.timeline.length_s = result.exposed.total();
    return result;
}

} // namespace fourfold
