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

// One operation of the step, of all chunks of the stage that price it alike.
struct CostedWork {
    const PricedOperation* priced;
    double times;
    [[nodiscard]] double seconds() const { return priced->seconds * times; }
};

void add_work(std::vector<CostedWork>& list, const PricedOperation& priced, double times)
{
    const auto same = std::find_if(list.begin(), list.end(), [&](const CostedWork& work) {
        return work.priced->operation.name == priced.operation.name
            && work.priced->operation.phase == priced.operation.phase && work.priced->formula == priced.formula
            && work.priced->seconds == priced.seconds;
    });
    if (same == list.end())
        list.push_back({&priced, times});
    else
        same->times += times;
}

// Floors and shares act on a whole pass: their effect is what is left of their part, not a sum of their prices.
bool acts_on_the_pass(const Operation& operation)
{
    const HostCost* host = operation.as<HostCost>();
    return host != nullptr && host->rule != HostRule::fixed;
}

// `in`: "a step", "a pass"
Explanation leaf(const CostedWork& work, const char* in)
{
    const Operation& operation = work.priced->operation;
    Explanation node;
    node.label = operation.name + " (" + word(operation.phase) + ")";
    node.value = work.seconds();
    node.unit = "s";
    node.formula = work.priced->formula;
    if (work.times != 1)
        node.formula += text_of(", %.4g times per %s", work.times, in);
    node.source = work.priced->source;
    if (!operation.note.empty())
        node.source += "; " + std::string(operation.note);
    return node;
}

void largest_first(std::vector<Explanation>& nodes)
{
    std::stable_sort(nodes.begin(), nodes.end(),
        [](const Explanation& a, const Explanation& b) { return std::abs(*a.value) > std::abs(*b.value); });
}

bool belongs_to(const Operation& operation, SpanKind kind)
{
    switch (kind) {
    case SpanKind::forward:
        return operation.phase == Phase::forward && operation.part != Part::pp;
    case SpanKind::backward:
        return (operation.phase == Phase::backward || operation.phase == Phase::recompute)
            && operation.part != Part::pp;
    case SpanKind::weight_gradient:
        return operation.phase == Phase::weight_gradient;
    case SpanKind::send_receive:
        return operation.part == Part::pp;
    case SpanKind::gradient_reduce:
    case SpanKind::parameter_gather:
        return operation.part == Part::dp;
    case SpanKind::optimizer:
        return operation.part == Part::optimizer;
    default:
        return false;
    }
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

Explanation own_shift_node(const OwnShift& shift, double seconds)
{
    Explanation node;
    node.label = "your own runs";
    node.value = seconds;
    node.unit = "s";
    node.formula = text_of("all times of the model x %.4g: %.0f %% of the mean error of %d run%s", shift.factor,
        100 * shift.share, shift.runs, shift.runs == 1 ? "" : "s");
    node.source = "history; James and Stein 1961";
    return node;
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
    std::vector<CostedWork> list;
    for (const PricedOperation& priced : prediction.operations) {
        if (priced.operation.part == part && !acts_on_the_pass(priced.operation) && part != Part::pp)
            add_work(
                list, priced, priced.operation.repeat * (priced.operation.phase == Phase::step ? 1 : micro_batches));
    }
    for (const CostedWork& work : list) {
        sum += work.seconds();
        largest = std::max(largest, work.seconds());
        node.children.push_back(leaf(work, "step"));
    }
    const double model = *node.value / (prediction.own_shift ? prediction.own_shift->factor : 1); // before own runs
    const double rest = model - sum;
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
    if (prediction.own_shift)
        node.children.push_back(own_shift_node(*prediction.own_shift, *node.value - model));
    largest_first(node.children);
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

Explanation explain_span(const Prediction& prediction, SpanKind kind, double seconds)
{
    Explanation node;
    node.label = std::string(name(kind));
    node.value = seconds;
    node.unit = "s";
    node.sum = true;
    node.source = "one bar of the timeline, beside the operations of one chunk of the busiest stage";
    const bool is_pass = kind == SpanKind::forward || kind == SpanKind::backward || kind == SpanKind::weight_gradient;
    const double chunks = is_pass ? std::max(1, prediction.plan.layout.virtual_stages) : 1;
    std::vector<CostedWork> list;
    for (const PricedOperation& priced : prediction.operations) {
        if (belongs_to(priced.operation, kind) && !acts_on_the_pass(priced.operation))
            add_work(list, priced, priced.operation.repeat / chunks);
    }
    double sum = 0;
    for (const CostedWork& work : list) {
        sum += work.seconds();
        node.children.push_back(leaf(work, "bar"));
    }
    if (const double rest = seconds - sum; std::abs(rest) > 1e-9 * std::max(seconds, sum)) {
        Explanation balance;
        balance.label = "other layers than in the busiest stage, launch floors and what overlaps";
        balance.value = rest;
        balance.unit = "s";
        balance.source = "overlap windows of the passes";
        node.children.push_back(std::move(balance));
    }
    largest_first(node.children);
    return node;
}

} // namespace fourfold
