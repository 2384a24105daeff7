// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/roofline.h"

#include "core/cost/links.h"

#include <algorithm>

namespace fourfold {
namespace {

// Bytes over bandwidth; nothing takes no time, whatever the link.
double seconds(double bytes, double bytes_s)
{
    return bytes > 0 && bytes_s > 0 ? bytes / bytes_s : 0;
}

struct UsageOfWork {
    Phase phase;
    const CostContext& context;

    Usage operator()(const Gemm& product) const
    {
        Usage usage;
        usage[Limit::compute] = flops(product) / (context.limit_flops * (product.narrow ? context.narrow_ratio : 1));
        const double operand = product.narrow ? context.narrow_bytes : context.operand_bytes;
        usage[Limit::memory] = product.batch
            * ((product.m + product.n) * product.k * operand + product.m * product.n * context.operand_bytes)
            / context.limit_bytes_s;
        return usage;
    }
    Usage operator()(const Attention& attention) const
    {
        Usage usage;
        Attention half = attention;
        half.causal = true;
        usage[Limit::compute] = flops(half, phase) / context.limit_flops;
        // Queries and output, backward with their gradients; heads may share keys and values.
        usage[Limit::memory] = (phase == Phase::backward ? 4 : 2) * attention.queries * attention.head_dim
            * attention.batch * context.operand_bytes / context.limit_bytes_s;
        return usage;
    }
    Usage operator()(const Collective& collective) const
    {
        Usage usage;
        const GroupSpan span = span_of(collective, context);
        if (span.size <= 1)
            return usage;
        const double size = span.size, nodes = span.nodes, here = span.per_node;
        const double node_rate = full_node_bytes_s(span, context.cluster);
        const double network_rate = full_network_bytes_s(context.cluster);
        double inside = 0, outside = 0;
        switch (collective.kind) {
        case Collective::all_gather:
        case Collective::reduce_scatter:
            inside = collective.bytes * (here - 1) / size;
            outside = collective.bytes * (size - here) / size / here;
            break;
        case Collective::all_reduce:
            inside = collective.bytes * (here - 1) / here;
            outside = collective.bytes / here * (nodes - 1) / nodes;
            break;
        case Collective::all_to_all:
            if (collective.routing.active > 0) {
                const double token = collective.bytes / collective.routing.active;
                inside = nodes > 1 ? 0 : token * copies_out(collective.routing, size);
                outside = nodes > 1 ? token * copies_out(collective.routing, nodes) : 0;
            } else {
                inside = collective.bytes * (here - 1) / size;
                outside = collective.bytes * (size - here) / size;
            }
            break;
        }
        usage[Limit::node_links] = seconds(inside, node_rate);
        usage[Limit::network] = seconds(outside, network_rate);
        return usage;
    }
    Usage operator()(const PointToPoint& transfer) const
    {
        Usage usage;
        const GroupSpan& span = context.span(transfer.group);
        if (span.crosses_nodes())
            usage[Limit::network]
                = seconds(transfer.bytes, full_network_bytes_s(context.cluster) * context.cluster.gpus_per_node);
        else
            usage[Limit::node_links] = seconds(transfer.bytes, full_node_bytes_s(span, context.cluster));
        return usage;
    }
    Usage operator()(const OptimizerUpdate& update) const
    {
        Usage usage;
        usage[Limit::memory] = update.least_bytes / context.limit_bytes_s;
        return usage;
    }
    Usage operator()(const Elementwise&) const { return {}; }
    Usage operator()(const HostCost&) const { return {}; }
};

} // namespace

Usage& Usage::add(const Usage& other, double times)
{
    for (std::size_t limit = 0; limit < kLimits; ++limit)
        seconds_[limit] += other.seconds_[limit] * times;
    return *this;
}

Limit Usage::longest() const
{
    return static_cast<Limit>(std::max_element(seconds_.begin(), seconds_.end()) - seconds_.begin());
}

Usage usage_of(const Operation& operation, const CostContext& context)
{
    if (operation.part == Part::pp || (operation.phase == Phase::recompute && !context.whole_recompute))
        return {};
    return Usage().add(std::visit(UsageOfWork{operation.phase, context}, operation.work), operation.repeat);
}

void add_chunk(StageUsage& stage, const Usage& forward, const Usage& backward, const Usage& weights, bool defers)
{
    const double later = defers ? 1 : 0;
    if (stage.chunks++ == 0) {
        stage.first_forward = forward;
        stage.first_backward = backward;
        stage.first_backward.add(weights, -later);
    }
    stage.micro_batch.add(forward).add(backward);
    stage.deferred.add(weights, later);
}

Roofline roofline(std::span<const StageUsage> stages, double micro_batches)
{
    Roofline least;
    double before = 0, back = 0; // of the stages before: one micro-batch through them and back
    for (const StageUsage& stage : stages) {
        const double forward = stage.first_forward.least_s(), backward = stage.first_backward.least_s();
        const double head = before + (stage.stages - 1) * forward, tail = back + (stage.stages - 1) * backward;
        Usage all = stage.step, passes;
        all.add(stage.micro_batch, micro_batches);
        passes.add(stage.micro_batch, micro_batches).add(stage.deferred, -micro_batches);
        for (const double time : {head + all.least_s(), head + passes.least_s() + tail}) {
            if (time > least.step_s)
                least = {time, all.longest()};
        }
        before += stage.stages * forward;
        back += stage.stages * backward;
    }
    return least;
}

} // namespace fourfold
