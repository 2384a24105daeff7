// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/passes.h"
#include "core/cost/prices.h"
#include "core/layout/mesh.h"
#include "core/plan/plan_schedule.h"
#include "core/predict/step_time.h"
#include "core/profile/kernel_list.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

namespace fourfold {

namespace {

constexpr std::array kGroupParts{Part::tp, Part::cp, Part::ep, Part::dp, Part::pp}; // tracks behind "compute"
constexpr std::size_t kTracks = kGroupParts.size() + 1;

std::size_t track_of(const Operation& operation)
{
    if (!operation.communicates())
        return 0;
    const auto part = std::ranges::find(kGroupParts, operation.part);
    return part == kGroupParts.end() ? 0 : static_cast<std::size_t>(part - kGroupParts.begin()) + 1;
}

struct Placed {
    std::uint32_t facts = 0;
    std::size_t track = 0;
    int layer = -1;
    double at_s = 0, seconds = 0; // since the pass began
};
struct Pass {
    std::vector<Placed> kernels;
    double seconds = 0;
};

struct KindOf {
    KernelKind operator()(const Gemm&) const { return KernelKind::product; }
    KernelKind operator()(const Attention&) const { return KernelKind::attention; }
    KernelKind operator()(const Elementwise&) const { return KernelKind::other; }
    KernelKind operator()(const Collective&) const { return KernelKind::communication; }
    KernelKind operator()(const PointToPoint&) const { return KernelKind::communication; }
    KernelKind operator()(const OptimizerUpdate&) const { return KernelKind::optimizer; }
    KernelKind operator()(const HostCost&) const { return KernelKind::other; }
};

class Builder {
public:
    explicit Builder(const ResolvedPlan& plan)
        : context_(plan)
    {
    }
    KernelList list;

    // Of one execution. Every operation is priced once, however many layers and passes have it: it must outlive this.
    double seconds(const Operation& operation) { return known(operation).seconds; }

    std::uint32_t facts_of(const Operation& operation, double times = 1)
    {
        Known& before = known(operation);
        if (before.times != times) {
            before.facts = new_facts(operation, times);
            before.times = times;
        }
        return before.facts;
    }

    // Those of these phases, in this order of phases within a layer; `back`: from the last layer to the first.
    Pass pass(const ChunkProgram& chunk, std::initializer_list<Phase> phases, bool back)
    {
        std::vector<const Operation*> before, layer, after, beside;
        bool was_layer = false;
        for (const Phase phase : phases) {
            was_layer = false;
            for (const Operation& operation : chunk.operations) {
                was_layer = was_layer || operation.in_layer;
                if (operation.phase != phase || operation.is<HostCost>() || operation.part == Part::pp)
                    continue;
                // What hides behind whole layers is spread over them.
                const bool spread = !operation.in_layer && operation.window != Window::none && chunk.layers > 0;
                (spread ? beside : operation.in_layer ? layer : was_layer ? after : before).push_back(&operation);
            }
        }
        if (back)
            std::swap(before, after);
        Pass pass;
        std::array<double, kTracks> free{};
        for (const Operation* operation : before)
            place(pass, free, *operation, operation->repeat, -1);
        for (int turn = 0; turn < chunk.layers; ++turn) {
            const int index = back ? chunk.layers - 1 - turn : turn;
            for (const Operation* operation : beside)
                place(pass, free, *operation, operation->repeat / chunk.layers, chunk.first_layer + index);
            for (const Operation* operation : layer) {
                // What runs less often than there are layers is spread evenly over them.
                const double each = operation->repeat / chunk.layers;
                const double times = std::floor((index + 1) * each + 1e-9) - std::floor(index * each + 1e-9);
                place(pass, free, *operation, times, chunk.first_layer + index);
            }
        }
        for (const Operation* operation : after)
            place(pass, free, *operation, operation->repeat, -1);
        for (const double end : free)
            pass.seconds = std::max(pass.seconds, end);
        return pass;
    }

private:
    // What is known of an operation: its price, and the facts of so many executions in one kernel as it last had.
    struct Known {
        double seconds = 0, times = 0;
        std::uint32_t facts = 0;
    };
    Known& known(const Operation& operation)
    {
        const auto [place, is_new] = known_.try_emplace(&operation);
        if (is_new)
            place->second.seconds = price(operation, context_).seconds;
        return place->second;
    }

    std::uint32_t new_facts(const Operation& operation, double times)
    {
        KernelFacts facts{
            operation.name, std::visit(KindOf{}, operation.work), {}, {}, 0, 0, operation.flops() * times};
        GroupKind group = GroupKind::none;
        if (const auto* collective = operation.as<Collective>()) {
            facts.collective = collective_word(collective->kind);
            facts.bytes = collective->bytes * times;
            group = collective->group;
        } else if (const auto* transfer = operation.as<PointToPoint>()) {
            facts.collective = "send/receive";
            facts.bytes = transfer->bytes * times;
            group = transfer->group;
        } else if (const auto* traffic = operation.as<Elementwise>()) {
            facts.bytes = traffic->bytes * times;
        } else if (const auto* update = operation.as<OptimizerUpdate>()) {
            facts.bytes = update->bytes * times;
        }
        if (group != GroupKind::none) {
            facts.group = name(group);
            facts.ranks = static_cast<int>(context_.span(group).size);
        }
        return list.index_of(std::move(facts));
    }

    void place(Pass& pass, std::array<double, kTracks>& free, const Operation& operation, double times, int layer)
    {
        constexpr double kMostEach = 64; // in a layer; more are drawn as one
        const double one = seconds(operation);
        if (!(one > 0) || !(times > 0))
            return;
        const std::size_t track = track_of(operation);
        const bool hides = operation.communicates() && operation.window != Window::none;
        const double count = times > kMostEach ? 1 : std::max(1.0, std::round(times));
        const double length = one * times / count;
        const std::uint32_t facts = facts_of(operation, times / count);
        for (int i = 0; i < static_cast<int>(count); ++i) {
            const double at = std::max(free[track], free[0]);
            pass.kernels.push_back({facts, track, layer, at, length});
            free[track] = at + length;
            if (!hides)
                free[0] = at + length;
        }
    }

    CostContext context_;
    std::unordered_map<const Operation*, Known> known_;
};

// A stage's tracks under construction.
class StageTracks {
public:
    StageTracks(Builder& builder, const StageProgram& program)
        : builder_(builder)
        , program_(program)
    {
        for (const ChunkProgram& chunk : program.chunks) {
            forward_[chunk.chunk] = builder.pass(chunk, {Phase::forward}, false);
            whole_[chunk.chunk]
                = builder.pass(chunk, {Phase::recompute, Phase::backward, Phase::weight_gradient}, true);
            input_[chunk.chunk] = builder.pass(chunk, {Phase::recompute, Phase::backward}, true);
            weights_[chunk.chunk] = builder.pass(chunk, {Phase::weight_gradient}, true);
            for (const Operation& operation : chunk.operations) {
                if (operation.part == Part::pp)
                    hop_ = builder.facts_of(operation);
            }
        }
    }

    // `splits`: weight gradients have spans of their own. `one_by_one`: its kernels; else the pass is as one.
    void add(const Span& span, bool splits, bool one_by_one)
    {
        const auto lay = [&](const Pass& pass) { one_by_one ? lay_kernels(pass, span) : lay_pass(pass, span); };
        switch (span.kind) {
        case SpanKind::forward:
            lay(forward_[span.chunk]);
            break;
        case SpanKind::backward:
            lay(splits ? input_[span.chunk] : whole_[span.chunk]);
            last_backward_ = std::max(last_backward_, span.end_s);
            break;
        case SpanKind::weight_gradient:
            lay(weights_[span.chunk]);
            last_backward_ = std::max(last_backward_, span.end_s);
            break;
        case SpanKind::send_receive:
            if (hop_)
                tracks_[kTracks - 1].push_back({span.start_s, span.end_s, *hop_, -1, span.micro_batch});
            break;
        default:
            once_[static_cast<std::size_t>(work_of(span.kind))] = span;
        }
    }

    // What runs once a step: reductions end with the span of what nothing hides of them, the rest begins with its own.
    void finish()
    {
        for (std::size_t work = 0; work < kStepWorks; ++work) {
            double sum = 0;
            std::vector<std::pair<const Operation*, double>> operations;
            for (const Operation& operation : program_.step_operations) {
                const double seconds = builder_.seconds(operation) * operation.repeat;
                if (static_cast<std::size_t>(step_work(operation)) != work || operation.is<HostCost>()
                    || !(seconds > 0))
                    continue;
                operations.emplace_back(&operation, seconds);
                sum += seconds;
            }
            const std::optional<Span>& span = once_[work];
            const bool reduces = work == static_cast<std::size_t>(StepWork::reduce);
            if (!span && !reduces)
                continue; // nothing of it is exposed, and nobody says when it runs
            const double end = span ? span->end_s : last_backward_;
            double at = reduces ? std::max(0.0, end - sum) : span->start_s;
            const double scale
                = !reduces && sum > span->end_s - span->start_s ? (span->end_s - span->start_s) / sum : 1;
            for (const auto& [operation, seconds] : operations) {
                tracks_[track_of(*operation)].push_back(
                    {at, at + seconds * scale, builder_.facts_of(*operation, operation->repeat), -1, -1});
                at += seconds * scale;
            }
        }
    }

    [[nodiscard]] std::size_t count() const
    {
        std::size_t sum = 0;
        for (const auto& track : tracks_)
            sum += track.size();
        return sum;
    }

    void move_to(KernelTimeline& timeline, const std::string& ranks)
    {
        const std::string stage = "stage " + std::to_string(program_.stage) + ", ";
        for (std::size_t track = 0; track < kTracks; ++track) {
            std::vector<KernelSpan>& spans = tracks_[track];
            if (spans.empty())
                continue;
            std::ranges::stable_sort(spans, {}, &KernelSpan::start_s);
            timeline.tracks.push_back({stage + (track == 0 ? "compute" : std::string(name(kGroupParts[track - 1]))),
                ranks, std::move(spans)});
        }
    }

private:
    static StepWork work_of(SpanKind kind)
    {
        return kind == SpanKind::gradient_reduce ? StepWork::reduce
            : kind == SpanKind::optimizer        ? StepWork::optimizer
            : kind == SpanKind::parameter_gather ? StepWork::gather
                                                 : StepWork::other;
    }
    // What its kernels do on each track, from the first one's begin to the last one's end.
    void lay_pass(const Pass& pass, const Span& span)
    {
        if (!(pass.seconds > 0))
            return;
        const double stretch = (span.end_s - span.start_s) / pass.seconds;
        std::array<std::size_t, kTracks> count{};
        std::array<double, kTracks> begin{}, end{}, flops{}, bytes{};
        for (const Placed& kernel : pass.kernels) {
            const std::size_t track = kernel.track;
            if (count[track]++ == 0)
                begin[track] = kernel.at_s;
            end[track] = std::max(end[track], kernel.at_s * stretch + kernel.seconds * std::min(1.0, stretch));
            bytes[track] += builder_.list.at(kernel.facts).bytes;
            flops[track] += builder_.list.at(kernel.facts).flops;
        }
        for (std::size_t track = 0; track < kTracks; ++track) {
            if (count[track] == 0)
                continue;
            const KernelKind kind = track == 0 ? KernelKind::other : KernelKind::communication;
            const std::uint32_t facts = builder_.list.index_of({std::string(name(span.kind)) + " pass, "
                    + std::to_string(count[track]) + (count[track] == 1 ? " kernel" : " kernels"),
                kind, {}, {}, 0, bytes[track], flops[track]});
            tracks_[track].push_back(
                {span.start_s + begin[track] * stretch, span.start_s + end[track], facts, -1, span.micro_batch});
        }
    }
    void lay_kernels(const Pass& pass, const Span& span)
    {
        if (!(pass.seconds > 0))
            return;
        const double stretch = (span.end_s - span.start_s) / pass.seconds;
        for (const Placed& kernel : pass.kernels) {
            const double start = span.start_s + kernel.at_s * stretch;
            tracks_[kernel.track].push_back(
                {start, start + kernel.seconds * std::min(1.0, stretch), kernel.facts, kernel.layer, span.micro_batch});
        }
    }

    Builder& builder_;
    const StageProgram& program_;
    std::map<int, Pass> forward_, whole_, input_, weights_; // by chunk
    std::optional<std::uint32_t> hop_;
    std::array<std::optional<Span>, kStepWorks> once_;
    std::array<std::vector<KernelSpan>, kTracks> tracks_;
    double last_backward_ = 0;
};

} // namespace

KernelTimeline predicted_kernels(const Prediction& prediction, const std::vector<int>& stages, std::size_t most)
{
    KernelTimeline timeline;
    const ResolvedPlan& plan = prediction.plan;
    if (prediction.timeline.spans.empty())
        return timeline;
    const auto schedule = plan_schedule(plan, micro_batches_to_simulate(plan));
    if (!schedule)
        return timeline;
    const std::vector<StageProgram> program = build_program(plan, schedule->stage_of_chunk);
    timeline.length_s = prediction.timeline.length_s;
    const auto splits = std::ranges::any_of(
        prediction.timeline.spans, [](const Span& span) { return span.kind == SpanKind::weight_gradient; });
    const int alike = plan.gpus / std::max(1, plan.layout.pp);
    const std::string ranks = alike > 1 ? std::to_string(alike) + " ranks alike" : std::string();
    Builder builder(plan);
    std::size_t left = most, stages_left = stages.size();
    for (const int stage : stages) {
        const std::size_t share = left / std::max<std::size_t>(1, stages_left--); // no stage is left with nothing
        if (stage < 0 || stage >= static_cast<int>(program.size()))
            continue;
        StageTracks tracks(builder, program[static_cast<std::size_t>(stage)]);
        for (const Span& span : prediction.timeline.spans) { // by stage and start
            if (span.stage != stage)
                continue;
            const bool one_by_one = tracks.count() < share;
            timeline.is_cut = timeline.is_cut || !one_by_one;
            tracks.add(span, splits, one_by_one);
        }
        tracks.finish();
        left -= std::min(left, tracks.count());
        tracks.move_to(timeline, ranks);
    }
    timeline.facts = builder.list.take();
    return timeline;
}

} // namespace fourfold
