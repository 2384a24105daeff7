// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/passes.h"

#include <algorithm>
#include <cmath>

namespace fourfold {
namespace {

std::size_t index(Part part)
{
    return static_cast<std::size_t>(part);
}

bool is_backward(Phase phase)
{
    return phase == Phase::backward || phase == Phase::recompute || phase == Phase::weight_gradient;
}

// Time that is still free to hide communication, by kind of window.
struct Windows {
    double gemm = 0, attention = 0, layer = 0;
    double* of(Window window)
    {
        switch (window) {
        case Window::gemm:
            return &gemm;
        case Window::attention:
            return &attention;
        case Window::layer:
            return &layer;
        default:
            return nullptr;
        }
    }
};

struct Priced {
    const Operation* operation;
    double seconds;
};

void add(PassTime& pass, Part part, double exposed, double hidden)
{
    pass.exposed[index(part)] += exposed;
    pass.hidden[index(part)] += hidden;
}

// Seconds of products (and their accumulation) that give weight gradients: a GEMM's backward is two products, attention
// has no weights.
double weight_products(const std::vector<Priced>& operations)
{
    double weights = 0;
    for (const auto& [operation, price] : operations) {
        if (operation->phase == Phase::weight_gradient && !operation->is<HostCost>())
            weights += price;
    }
    return weights;
}

PassTime compose(const std::vector<Priced>& operations, const CostContext& context)
{
    const Constants& c = context.constants;
    PassTime pass;
    Windows windows;
    double layers = 0; // device time of the layers, for launch floors
    double floor = 0;
    for (const auto& [operation, seconds] : operations) {
        const Usage usage = usage_of(*operation, context);
        pass.usage.add(usage);
        if (operation->phase == Phase::weight_gradient)
            pass.weight_usage.add(usage);
        if (operation->window != Window::none || operation->is<HostCost>())
            continue;
        add(pass, operation->part, seconds, 0);
        if (!operation->in_layer)
            continue;
        layers += seconds;
        if (operation->is<Gemm>())
            windows.gemm += seconds;
        if (const Attention* attention = operation->as<Attention>())
            windows.attention += seconds * (attention->blocks - 1) / attention->blocks;
        if (!operation->communicates())
            windows.layer += seconds;
    }
    double behind = 0; // collectives that share the GPU with compute
    // Communication inside a layer hides first, then FSDP hides behind whole layers.
    for (const bool whole_layers : {false, true}) {
        for (const auto& [operation, seconds] : operations) {
            double* window = windows.of(operation->window);
            if (window == nullptr || (operation->window == Window::layer) != whole_layers)
                continue;
            const double hidden = covered(*operation, seconds, context).hide(*window);
            if (operation->is<Collective>())
                behind += hidden;
            add(pass, operation->part, seconds - hidden, hidden);
            if (!whole_layers && operation->in_layer)
                layers += seconds - hidden;
        }
    }
    add(pass, Part::compute, behind * c[Constant::overlap_slowdown], 0);
    for (const auto& [operation, seconds] : operations) {
        const HostCost* host = operation->as<HostCost>();
        if (host == nullptr || operation->window != Window::none)
            continue;
        if (host->rule == HostRule::fixed) {
            add(pass, operation->part, seconds, 0);
            pass.fixed_s += seconds;
            if (operation->in_layer)
                layers += seconds;
        } else if (host->rule == HostRule::floor) {
            floor += seconds;
        }
    }
    if (floor > 0)
        add(pass, Part::other, smooth_maximum(layers, floor, c[Constant::layer_floor_power]) - layers, 0);
    const double before = pass.unstretched_s = pass.seconds();
    for (const auto& [operation, seconds] : operations) {
        const HostCost* host = operation->as<HostCost>();
        if (host != nullptr && host->rule == HostRule::share)
            add(pass, operation->part, seconds * before, 0);
    }
    add(pass, Part::other, context.pressure * before, 0);
    pass.weight_products_s = weight_products(operations);
    pass.weight_gradient_s = weight_gradient_seconds(before, pass.fixed_s, pass.weight_products_s, pass.seconds());
    pass.free_window_s = windows.layer;
    return pass;
}

} // namespace

double weight_gradient_seconds(double unstretched_s, double fixed_s, double weight_products_s, double seconds)
{
    const double device = unstretched_s - fixed_s;
    return device > 0 ? std::min(1.0, weight_products_s / device) * (seconds - fixed_s) : 0;
}

double seconds_in_pass(const Operation& operation, const CostContext& context)
{
    double seconds = price(operation, context).seconds * operation.repeat;
    if (context.launch_blocking && !operation.is<HostCost>())
        seconds += context.constants[Constant::blocking_launch_s] * operation.repeat;
    return seconds;
}

CoveredWork covered(const Operation& operation, double seconds, const CostContext& context)
{
    CoveredWork work{seconds, 0, 0};
    if (operation.window != Window::none && !context.launch_blocking) {
        work.most_hidden = (1 - context.constants[operation.exposed_floor]) * seconds;
        work.window_share = context.constants[operation.window_share];
    }
    return work;
}

double PassTime::seconds() const
{
    double sum = 0;
    for (double part : exposed)
        sum += part;
    return sum;
}

double smooth_maximum(double a, double b, double power)
{
    const double larger = std::max(a, b);
    if (larger <= 0)
        return 0;
    return larger * std::pow(std::pow(a / larger, power) + std::pow(b / larger, power), 1 / power);
}

ChunkTime chunk_time(const ChunkProgram& chunk, const CostContext& context)
{
    std::vector<Priced> forward, backward;
    forward.reserve(chunk.operations.size());
    backward.reserve(chunk.operations.size());
    for (const Operation& operation : chunk.operations) {
        if (operation.part == Part::pp)
            continue; // a delay between stages: the simulation's business
        const Priced priced{&operation, seconds_in_pass(operation, context)};
        if (priced.seconds <= 0)
            continue;
        (is_backward(operation.phase) ? backward : forward).push_back(priced);
    }
    return {compose(forward, context), compose(backward, context)};
}

StepWork step_work(const Operation& operation)
{
    // An optimizer's own products and exchanges run within its update.
    if (operation.part == Part::optimizer && !operation.is<HostCost>())
        return StepWork::optimizer;
    return std::visit(WhatWaits{}, operation.work);
}

std::vector<StepTerm> step_terms(const std::vector<Operation>& step_operations, const CostContext& context)
{
    std::vector<StepTerm> terms;
    terms.reserve(step_operations.size());
    for (const Operation& operation : step_operations) {
        const double seconds = price(operation, context).seconds * operation.repeat;
        terms.push_back({covered(operation, seconds, context), operation.window, step_work(operation), operation.part,
            usage_of(operation, context)});
    }
    return terms;
}

double StageLoad::busy(double micro_batches) const
{
    double seconds = micro_batches * period();
    for (const double exposed : once)
        seconds += exposed;
    return seconds;
}

std::size_t busiest(std::span<const StageLoad> stages, double micro_batches)
{
    std::size_t found = 0;
    for (std::size_t stage = 1; stage < stages.size(); ++stage) {
        if (stages[stage].busy(micro_batches) > stages[found].busy(micro_batches))
            found = stage;
    }
    return found;
}

StepEnd step_end(std::span<const double> ends, std::span<const StageLoad> stages, double extension)
{
    StepEnd end;
    for (std::size_t stage = 0; stage < ends.size(); ++stage) {
        const StageLoad& load = stages[stage];
        end.barrier = std::max(end.barrier, ends[stage] + extension + load.of(StepWork::reduce));
        end.optimizer = std::max(end.optimizer, load.of(StepWork::optimizer));
        end.gather = std::max(end.gather, load.of(StepWork::gather));
        end.other = std::max(end.other, load.of(StepWork::other));
    }
    return end;
}

} // namespace fourfold
