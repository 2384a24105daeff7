// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/context.h"
#include "core/memory/replay.h"
#include "core/predict/allocation_formula.h"
#include "core/predict/explain_parts.h"
#include "core/predict/fit.h"
#include "core/predict/step_time.h"
#include "core/plan/plan_schedule.h"

#include <algorithm>
#include <cmath>

namespace fourfold {
namespace {

// An allocation with how many of it are alive at the peak.
struct Alive {
    const Allocation* allocation = nullptr;
    int chunk = -1; // -1: of the stage
    int count = 1;
};

double bytes_of(const std::vector<Allocation>& allocations, Lifetime lifetime)
{
    double bytes = 0;
    for (const Allocation& allocation : allocations)
        bytes += allocation.lifetime == lifetime ? allocation.bytes : 0;
    return bytes;
}

// What is alive in a chunk, and for the chunk in use the workspace of the running pass.
struct ChunkState {
    const ChunkProgram* chunk = nullptr;
    double kept = 0, operands = 0; // bytes of one micro-batch
    int micro_batches = 0, waiting = 0; // alive: whole, and until their weight gradient
};

struct Snapshot {
    std::vector<ChunkState> chunks;
    const ChunkProgram* running = nullptr; // null: the optimizer's update
    Lifetime pass = Lifetime::update;
    double bytes = -1;
};

// The same walk as core/memory/replay.h, which adds kinds up and forgets names.
Snapshot peak_of(const StageProgram& stage, const std::vector<Action>& actions)
{
    Snapshot now, peak;
    for (const ChunkProgram& chunk : stage.chunks)
        now.chunks.push_back({&chunk, bytes_of(chunk.allocations, Lifetime::micro_batch),
            bytes_of(chunk.allocations, Lifetime::weight_gradient)});
    const auto look = [&](const ChunkProgram* running, Lifetime pass) {
        now.running = running;
        now.pass = pass;
        now.bytes = bytes_of(running != nullptr ? running->allocations : stage.allocations, pass);
        for (const ChunkState& chunk : now.chunks)
            now.bytes += chunk.kept * chunk.micro_batches + chunk.operands * chunk.waiting;
        if (now.bytes > peak.bytes)
            peak = now;
    };
    for (const Action& action : actions) {
        const auto at = std::find_if(now.chunks.begin(), now.chunks.end(),
            [&](const ChunkState& state) { return state.chunk->chunk == action.chunk; });
        if (at == now.chunks.end())
            continue;
        switch (action.kind) {
        case ActionKind::forward:
            ++at->micro_batches;
            look(at->chunk, Lifetime::forward);
            break;
        case ActionKind::backward:
        case ActionKind::input_gradient:
            look(at->chunk, Lifetime::loss);
            look(at->chunk, Lifetime::backward);
            --at->micro_batches;
            at->waiting += action.kind == ActionKind::input_gradient;
            look(at->chunk, Lifetime::update);
            break;
        case ActionKind::weight_gradient:
            --at->waiting;
            break;
        }
    }
    look(nullptr, Lifetime::update);
    return peak;
}

std::vector<Alive> alive_at(const Snapshot& peak, const StageProgram& stage)
{
    std::vector<Alive> list;
    const auto add = [&](const std::vector<Allocation>& allocations, Lifetime lifetime, int chunk, int count) {
        for (const Allocation& allocation : allocations) {
            if (allocation.lifetime == lifetime && count > 0)
                list.push_back({&allocation, chunk, count});
        }
    };
    add(stage.allocations, Lifetime::step, -1, 1);
    for (const ChunkState& state : peak.chunks) {
        add(state.chunk->allocations, Lifetime::micro_batch, state.chunk->chunk, state.micro_batches);
        add(state.chunk->allocations, Lifetime::weight_gradient, state.chunk->chunk, state.waiting);
    }
    if (peak.running != nullptr)
        add(peak.running->allocations, peak.pass, peak.running->chunk, 1);
    else
        add(stage.allocations, Lifetime::update, -1, 1);
    return list;
}

const char* word(const Snapshot& peak)
{
    if (peak.running == nullptr)
        return "the optimizer's update";
    if (peak.pass == Lifetime::loss)
        return "the loss";
    return peak.pass == Lifetime::forward ? "a forward" : "a backward";
}

Explanation gib_node(std::string label, double gib)
{
    Explanation node;
    node.label = std::move(label);
    node.value = gib;
    node.unit = "GiB";
    return node;
}

// What was noted of the allocation, and where its formula comes from.
std::string source_of(const Allocation& allocation, const std::string& formula_source)
{
    std::string source(allocation.note);
    if (!source.empty() && !formula_source.empty())
        source += "; ";
    return source + formula_source;
}

Explanation allocation_node(const Alive& alive, const AllocationFormulas& formulas, bool chunks)
{
    const Allocation& allocation = *alive.allocation;
    Explanation node = gib_node(std::string(allocation.name), allocation.bytes * alive.count / kGib);
    if (chunks && alive.chunk >= 0)
        node.label += " of chunk " + std::to_string(alive.chunk);
    AllocationFormula formula = formulas.of(allocation, alive.chunk);
    node.formula = std::move(formula.text);
    if (allocation.lifetime == Lifetime::micro_batch || allocation.lifetime == Lifetime::weight_gradient)
        node.formula += text_of(" = %.4g GiB a micro-batch * %d in flight", allocation.bytes / kGib, alive.count);
    node.source = source_of(allocation, formula.source);
    node.children = std::move(formula.inputs);
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

Explanation kind_node(const char* label, MemoryKind kind, double gib, const std::vector<Alive>& alive,
    const AllocationFormulas& formulas, const ResolvedPlan& plan)
{
    Explanation node = gib_node(label, gib);
    node.sum = true;
    node.formula = "sum of the parts below";
    const bool chunks = plan.layout.virtual_stages > 1;
    double sum = 0, allocated = 0;
    for (const Alive& one : alive) {
        const double part = one.allocation->bytes * one.count / kGib;
        allocated += part;
        if (one.allocation->kind != kind)
            continue;
        sum += part;
        node.children.push_back(allocation_node(one, formulas, chunks));
    }
    const double rest = gib - sum;
    if (std::abs(rest) > 1e-9 * std::max(gib, sum))
        node.children.push_back(beyond_allocated(plan, rest, allocated));
    return node;
}

Explanation stage_node(
    const ResolvedPlan& plan, const StageMemory& memory, const StageProgram& stage, const std::vector<Action>& actions)
{
    const AllocationFormulas formulas(plan, stage);
    const Snapshot peak = peak_of(stage, actions);
    const std::vector<Alive> alive = alive_at(peak, stage);
    Explanation node = gib_node("stage " + std::to_string(memory.stage), memory.total());
    node.sum = true;
    int in_flight = 0;
    for (const ChunkState& chunk : peak.chunks)
        in_flight += chunk.micro_batches;
    node.formula = text_of("peak during %s, %d micro-batches in flight", word(peak), in_flight);
    node.source = "allocations replayed along the schedule";
    const auto add = [&](const char* label, MemoryKind kind, double gib) {
        node.children.push_back(kind_node(label, kind, gib, alive, formulas, plan));
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
    for (std::size_t i = 0; i < program.size() && i < prediction.memory_by_stage.size(); ++i)
        nodes.push_back(stage_node(plan, prediction.memory_by_stage[i], program[i], schedule->actions[i]));
    return nodes;
}

std::size_t largest(const std::vector<Explanation>& nodes)
{
    return std::size_t(std::max_element(nodes.begin(), nodes.end(), [](const Explanation& a, const Explanation& b) {
        return *a.value < *b.value;
    }) - nodes.begin());
}

} // namespace

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
