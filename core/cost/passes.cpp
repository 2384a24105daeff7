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
            const double hidden = hide(seconds, *operation, *window, context);
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

double hide(double seconds, const Operation& operation, double& window, const CostContext& context)
{
    if (context.launch_blocking)
        return 0;
    const Constants& constants = context.constants;
    const double most = (1 - constants[operation.exposed_floor]) * seconds;
    const double hidden = std::clamp(std::min(most, constants[operation.window_share] * window), 0.0, seconds);
    window -= hidden;
    return hidden;
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

std::vector<StepOperationTime> step_operation_times(
    const StageProgram& stage, double forward_s, double backward_s, const CostContext& context)
{
    std::vector<StepOperationTime> times;
    for (const Operation& operation : stage.step_operations) {
        const double seconds = price(operation, context).seconds * operation.repeat;
        double hidden = 0;
        if (operation.window == Window::forward_pass)
            hidden = hide(seconds, operation, forward_s, context);
        else if (operation.window == Window::backward_pass)
            hidden = hide(seconds, operation, backward_s, context);
        times.push_back(
            {&operation, seconds - hidden + hidden * context.constants[Constant::overlap_slowdown], hidden});
    }
    return times;
}

} // namespace fourfold
