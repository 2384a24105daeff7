// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/context.h"
#include "core/predict/explain_parts.h"

#include <algorithm>
#include <cmath>

namespace fourfold {
namespace {

const char* word(Phase phase)
{
    switch (phase) {
    case Phase::forward:
        return "forward";
    case Phase::recompute:
        return "repeated forward";
    case Phase::backward:
        return "backward";
    case Phase::weight_gradient:
        return "weight gradients";
    case Phase::step:
        return "once a step";
    }
    return "";
}

// What an operation takes over the whole step, before anything hides.
double total_seconds(const PricedOperation& priced, double micro_batches)
{
    const double times = priced.operation.phase == Phase::step ? 1 : micro_batches;
    return priced.seconds * priced.operation.repeat * times;
}

// Floors and shares act on a whole pass: their effect is what is left of their part, not a sum of their prices.
bool acts_on_the_pass(const Operation& operation)
{
    const HostCost* host = operation.as<HostCost>();
    return host != nullptr && host->rule != HostRule::fixed;
}

Explanation leaf(const PricedOperation& priced, double seconds, double micro_batches)
{
    const Operation& operation = priced.operation;
    Explanation node;
    node.label = operation.name + " (" + word(operation.phase) + ")";
    node.value = seconds;
    node.unit = "s";
    node.formula = priced.formula;
    const double times = operation.phase == Phase::step ? 1 : micro_batches;
    if (operation.repeat * times != 1)
        node.formula += text_of(", %.4g times a step", operation.repeat * times);
    node.source = priced.source;
    if (!operation.note.empty())
        node.source += "; " + std::string(operation.note);
    return node;
}

const char* rest_label(Part part)
{
    switch (part) {
    case Part::compute:
        return "slowed by collectives that run beside it";
    case Part::pp:
        return "simulated with the schedule";
    case Part::bubble:
        return "waiting for other stages";
    case Part::other:
        return "launch floors, stragglers and slowdowns beyond the operations";
    default:
        return "hidden behind compute";
    }
}

Explanation part_node(const Prediction& prediction, Part part)
{
    const double micro_batches = prediction.plan.training.micro_batches;
    Explanation node;
    node.label = std::string(name(part));
    node.value = prediction.time_by_part[part];
    node.unit = "s";
    node.sum = true;
    node.source = "operations of the busiest stage";
    double sum = 0, largest = 0;
    for (const PricedOperation& priced : prediction.operations) {
        if (priced.operation.part != part || acts_on_the_pass(priced.operation) || part == Part::pp)
            continue;
        const double seconds = total_seconds(priced, micro_batches);
        sum += seconds;
        largest = std::max(largest, seconds);
        node.children.push_back(leaf(priced, seconds, micro_batches));
    }
    const double rest = *node.value - sum;
    if (std::abs(rest) > 1e-9 * std::max(*node.value, largest)) {
        Explanation balance;
        balance.label = rest_label(part);
        balance.value = rest;
        balance.unit = "s";
        balance.source = "overlap windows of the passes";
        for (const PricedOperation& priced : prediction.operations) {
            if (priced.operation.part == part && (acts_on_the_pass(priced.operation) || part == Part::pp))
                balance.formula
                    += (balance.formula.empty() ? "" : "; ") + priced.operation.name + ": " + priced.formula;
        }
        node.children.push_back(std::move(balance));
    }
    std::stable_sort(node.children.begin(), node.children.end(),
        [](const Explanation& a, const Explanation& b) { return std::abs(*a.value) > std::abs(*b.value); });
    return node;
}

} // namespace

Explanation explain_step_time(const Prediction& prediction)
{
    Explanation node;
    node.label = "step time";
    node.unit = "s";
    node.value = prediction.step_time_s;
    node.source = "operations of the busiest stage, with the schedule simulated";
    if (!prediction.step_time_s)
        return node;
    node.sum = true;
    const int micro_batches = prediction.plan.training.micro_batches;
    node.formula
        = text_of("%d micro-batch%s and what follows the last backward", micro_batches, micro_batches == 1 ? "" : "es");
    for (int i = 0; i < kParts; ++i) {
        const auto part = static_cast<Part>(i);
        if (prediction.time_by_part[part] != 0 || prediction.time_hidden[part] != 0)
            node.children.push_back(part_node(prediction, part));
    }
    return node;
}

} // namespace fourfold
