// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/context.h"
#include "core/memory/replay.h"
#include "core/plan/plan_schedule.h"
#include "core/predict/explain_parts.h"
#include "core/predict/fit.h"
#include "core/predict/step_time.h"
#include "core/program/allocations.h"
#include "core/program/modules_ahead.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace fourfold {
namespace {

// 6.64e9 as "6.64 B", 7.1e6 as "7.1 M".
std::string count(double number)
{
    if (number >= 1e9)
        return text_of("%.4g B", number / 1e9);
    return number >= 1e5 ? text_of("%.4g M", number / 1e6) : text_of("%.6g", number);
}

// Of the GPU of a stage with these chunks, before data parallel ranks share them out.
Explanation parameters_node(const ResolvedPlan& plan, const RankShape& rank, const std::vector<ChunkShape>& chunks)
{
    const ModelShape& model = plan.model;
    Explanation node;
    node.label = "parameters of this GPU";
    node.unit = "parameters";
    node.value = 0;
    node.source = "shape of the model, after TP, PP and EP";
    const auto add = [&](const std::string& text, double number) {
        node.formula += (node.formula.empty() ? "" : " + ") + text;
        *node.value += number;
    };
    int layers[2] = {0, 0}; // dense, with experts
    bool embedding = false, head = false;
    for (const ChunkShape& chunk : chunks) {
        const int dense = dense_layers(model, chunk.first_layer, chunk.layers);
        layers[0] += dense;
        layers[1] += chunk.layers - dense;
        embedding = embedding || chunk.embedding;
        head = head || chunk.head;
    }
    for (const bool moe : {false, true}) {
        if (layers[moe] == 0)
            continue;
        const LayerParameters& one = rank.layer(moe);
        const double experts = moe ? rank.experts() : 0, shared = one.mlp + one.router;
        const double attention = one.attention, norms = one.vectors, mlp = experts + shared;
        const std::string inside
            = moe ? "experts " + count(experts) + " + shared experts and router " + count(shared) : "MLP " + count(mlp);
        add(text_of("%d %s * (attention %s + %s + norms and biases %s)", layers[moe],
                layers[moe] == 1 ? "layer" : "layers", count(attention).c_str(), inside.c_str(), count(norms).c_str()),
            layers[moe] * (attention + mlp + norms));
    }
    if (embedding)
        add("embedding " + count(embedding_parameters(model, rank)), embedding_parameters(model, rank));
    const double tied = model.tied_embeddings && plan.layout.pp == 1 ? rank.vocab * rank.hidden / rank.tp : 0;
    const double of_head = head_parameters(model, rank) - tied;
    if (head)
        add(std::string(tied > 0 ? "final norm (the head is the embedding) " : "head ") + count(of_head), of_head);
    if (head && model.predicted_ahead > 0) {
        StageParameters modules;
        add_module_parameters(modules, plan, rank);
        add("prediction modules " + count(modules.total()), modules.total());
    }
    return node;
}

// The explained allocations of one stage, in the order of its StageProgram.
class StageSizes {
public:
    using List = std::vector<AllocationOf<Formula>>;
    // `stage`: of build_program(plan, stage_of_chunk).
    StageSizes(const ResolvedPlan& plan, const StageProgram& stage, const std::vector<int>& stage_of_chunk)
        : rank_(rank_shape(plan))
    {
        StageParameters parameters;
        std::vector<ChunkShape> own;
        for (const ChunkShape& shape : chunk_shapes(plan, stage_of_chunk)) {
            if (stage_of_chunk[std::size_t(shape.chunk)] != stage.stage)
                continue;
            own.push_back(shape);
            add_chunk_parameters(parameters, plan, rank_, shape);
            chunks_[shape.chunk] = chunk_allocations<Formula>(plan, rank_, shape);
        }
        of_stage_ = state_allocations<Formula>(plan, rank_, parameters);
        parameters_ = parameters_node(plan, rank_, own);
    }
    [[nodiscard]] const Explanation& parameters() const { return parameters_; }
    [[nodiscard]] const List& of_stage() const { return of_stage_; }
    [[nodiscard]] const List& of_chunk(int chunk) const { return chunks_.at(chunk); }

private:
    RankShape rank_;
    Explanation parameters_;
    List of_stage_;
    std::map<int, List> chunks_;
};

// An allocation with how many of it are alive at the peak.
struct Alive {
    const AllocationOf<Formula>* allocation = nullptr;
    int chunk = -1; // -1: of the stage
    int count = 1;
};

std::vector<Alive> alive_at(const MemoryPeak& peak, const StageSizes& sizes)
{
    std::vector<Alive> list;
    const auto add = [&](const StageSizes::List& allocations, Lifetime lifetime, int chunk, int count) {
        for (const AllocationOf<Formula>& allocation : allocations) {
            if (allocation.lifetime == lifetime && count > 0)
                list.push_back({&allocation, chunk, count});
        }
    };
    add(sizes.of_stage(), Lifetime::step, -1, 1);
    for (const HeldMicroBatches& held : peak.held) {
        add(sizes.of_chunk(held.chunk), Lifetime::micro_batch, held.chunk, held.whole);
        add(sizes.of_chunk(held.chunk), Lifetime::weight_gradient, held.chunk, held.waiting);
    }
    switch (peak.instant) {
    case Instant::forward:
        add(sizes.of_chunk(peak.chunk), Lifetime::forward, peak.chunk, 1);
        break;
    case Instant::loss:
        add(sizes.of_chunk(peak.chunk), Lifetime::loss, peak.chunk, 1);
        break;
    case Instant::backward:
        add(sizes.of_chunk(peak.chunk), Lifetime::backward, peak.chunk, 1);
        break;
    case Instant::between:
        break;
    case Instant::update:
        add(sizes.of_stage(), Lifetime::update, -1, 1);
        break;
    }
    return list;
}

const char* word(Instant instant)
{
    switch (instant) {
    case Instant::forward:
        return "a forward";
    case Instant::loss:
        return "the loss";
    case Instant::update:
        return "the optimizer's update";
    default:
        return "a backward";
    }
}

Explanation gib_node(std::string label, double gib)
{
    Explanation node;
    node.label = std::move(label);
    node.value = gib;
    node.unit = "GiB";
    return node;
}

Explanation named_node(const Formula::Named& named)
{
    Explanation node = gib_node(named.label, named.value / kGib);
    node.formula = named.text;
    for (const Formula::Named& inner : named.named)
        node.children.push_back(named_node(inner));
    return node;
}

Explanation allocation_node(const Alive& alive, bool chunks)
{
    const AllocationOf<Formula>& allocation = *alive.allocation;
    Explanation node = gib_node(std::string(allocation.name), allocation.bytes.value() * alive.count / kGib);
    if (chunks && alive.chunk >= 0)
        node.label += " of chunk " + std::to_string(alive.chunk);
    node.formula = allocation.bytes.text();
    if (allocation.lifetime == Lifetime::micro_batch || allocation.lifetime == Lifetime::weight_gradient)
        node.formula
            += text_of(" = %.4g GiB per micro-batch * %d in flight", allocation.bytes.value() / kGib, alive.count);
    node.source = std::string(allocation.note);
    for (const Formula::Named& named : allocation.bytes.named())
        node.children.push_back(named_node(named));
    return node;
}

// What the stack's memory column counts beyond what is allocated.
Explanation beyond_allocated(const ResolvedPlan& plan, double gib, double allocated_gib)
{
    Explanation node = gib_node("fragmentation and what lies outside the allocator", gib);
    node.formula = text_of("(fragmentation %.4g - 1) * %.4g GiB allocated", fragmentation_of(plan), allocated_gib);
    node.source = "stack constant fragmentation";
    if (plan.stack.memory_convention == MemoryConvention::device) {
        node.formula += text_of(" + context and communicators %.2f GiB", device_overhead_gib(plan));
        node.source = "stack constants fragmentation, context_memory_gib, communicator_memory_gib";
    }
    return node;
}

Explanation kind_node(
    const char* label, MemoryKind kind, double gib, const std::vector<Alive>& alive, const ResolvedPlan& plan)
{
    Explanation node = gib_node(label, gib);
    node.sum = true;
    node.formula = "sum of the parts below";
    const bool chunks = plan.layout.virtual_stages > 1;
    double sum = 0, allocated = 0;
    for (const Alive& one : alive) {
        const double part = one.allocation->bytes.value() * one.count / kGib;
        allocated += part;
        if (one.allocation->kind != kind)
            continue;
        sum += part;
        node.children.push_back(allocation_node(one, chunks));
    }
    const double rest = gib - sum;
    if (std::abs(rest) > 1e-9 * std::max(gib, sum))
        node.children.push_back(beyond_allocated(plan, rest, allocated));
    return node;
}

Explanation stage_node(const ResolvedPlan& plan, const StageMemory& memory, const StageProgram& stage,
    const PlanSchedule& schedule, int also_held)
{
    const StageSizes sizes(plan, stage, schedule.stage_of_chunk);
    std::vector<Action> room;
    const MemoryPeak peak = replay_memory(stage, schedule.actions_of(std::size_t(stage.stage), room), also_held);
    const std::vector<Alive> alive = alive_at(peak, sizes);
    Explanation node = gib_node("stage " + std::to_string(memory.stage), memory.total());
    node.sum = true;
    int in_flight = 0;
    for (const HeldMicroBatches& held : peak.held)
        in_flight += held.whole;
    node.formula = text_of("peak during %s, %d micro-batches in flight", word(peak.instant), in_flight);
    node.source = "allocations replayed along the schedule";
    const auto add = [&](const char* label, MemoryKind kind, double gib) {
        node.children.push_back(kind_node(label, kind, gib, alive, plan));
        if (kind == MemoryKind::weights && !node.children.back().children.empty())
            node.children.back().children.front().children.push_back(sizes.parameters());
    };
    add("weights", MemoryKind::weights, memory.weights);
    add("gradients", MemoryKind::gradients, memory.gradients);
    add("optimizer", MemoryKind::optimizer, memory.optimizer);
    add("activations", MemoryKind::activations, memory.activations);
    add("other", MemoryKind::other, memory.other);
    return node;
}

std::vector<Explanation> stage_nodes(const Prediction& prediction)
{
    std::vector<Explanation> nodes;
    const ResolvedPlan& plan = prediction.plan;
    if (prediction.memory_by_stage.empty())
        return nodes;
    const auto schedule = plan_schedule(plan, micro_batches_to_simulate(plan));
    if (!schedule)
        return nodes;
    const std::vector<StageProgram> program = build_program(plan, schedule->stage_of_chunk);
    const int also_held = micro_batches_held_beyond(plan, *schedule);
    for (std::size_t i = 0; i < program.size() && i < prediction.memory_by_stage.size(); ++i)
        nodes.push_back(stage_node(plan, prediction.memory_by_stage[i], program[i], *schedule, also_held));
    return nodes;
}

std::size_t largest(const std::vector<Explanation>& nodes)
{
    return std::size_t(std::max_element(nodes.begin(), nodes.end(), [](const Explanation& a, const Explanation& b) {
        return *a.value < *b.value;
    }) - nodes.begin());
}

} // namespace

Explanation explain_stage(const Prediction& prediction, int stage)
{
    std::vector<Explanation> stages = stage_nodes(prediction);
    if (stage >= 0 && stage < int(stages.size()))
        return std::move(stages[std::size_t(stage)]);
    Explanation node;
    node.label = "stage " + std::to_string(stage);
    node.unit = "GiB";
    return node;
}

Explanation explain_memory(const Prediction& prediction)
{
    Explanation node;
    node.label = "memory";
    node.unit = "GiB";
    node.value = prediction.memory_gib;
    node.source = "stack " + prediction.plan.stack.id + "'s memory column";
    std::vector<Explanation> stages = stage_nodes(prediction);
    if (stages.empty())
        return node;
    const int printed = prediction.plan.stack.memory_stage;
    const bool own = printed >= 0 && printed < int(stages.size());
    const std::size_t shown = own ? std::size_t(printed) : largest(stages);
    node.formula = own ? text_of("of stage %d, which this stack prints", printed) : "the largest stage";
    node.children = std::move(stages[shown].children);
    node.sum = true;
    return node;
}

Explanation explain_device_memory(const Prediction& prediction)
{
    Explanation node;
    node.label = "memory on the device";
    node.unit = "GiB";
    node.value = prediction.memory_device_gib;
    node.source = "compared with the GPU's " + text_of("%.1f GiB", prediction.memory_capacity_gib);
    std::vector<Explanation> stages = stage_nodes(prediction);
    if (stages.empty() || !prediction.memory_device_gib)
        return node;
    const std::size_t top = largest(stages);
    const double beyond = *prediction.memory_device_gib - *stages[top].value;
    node.formula
        = text_of("stage %zu needs most: its memory as the stack prints it, and the rest of the device's", top);
    Explanation rest = gib_node("fragmentation, context and communicators beyond that", beyond);
    rest.formula = text_of("context and communicators %.2f GiB in all", device_overhead_gib(prediction.plan));
    rest.source = "stack constants fragmentation, context_memory_gib, communicator_memory_gib";
    Explanation all = gib_node("every stage", *stages[top].value);
    all.formula = "the largest of the stages below";
    all.children = std::move(stages);
    node.children = {std::move(all), std::move(rest)};
    node.sum = true;
    return node;
}

} // namespace fourfold
