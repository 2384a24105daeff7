// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory/replay.h"

#include <algorithm>

namespace fourfold {
namespace {

using Bytes = std::array<double, kMemoryKinds>;

double sum(const Bytes& bytes)
{
    double total = 0;
    for (double part : bytes)
        total += part;
    return total;
}

void add(Bytes& to, const Bytes& what, double times)
{
    for (std::size_t i = 0; i < to.size(); ++i)
        to[i] += what[i] * times;
}

Bytes of_lifetime(const std::vector<Allocation>& allocations, Lifetime lifetime)
{
    Bytes bytes{};
    for (const Allocation& allocation : allocations) {
        if (allocation.lifetime == lifetime)
            bytes[static_cast<std::size_t>(allocation.kind)] += allocation.bytes;
    }
    return bytes;
}

struct ChunkBytes {
    int chunk = 0;
    Bytes kept{}, kept_for_weights{}, forward{}, backward{};
};

} // namespace

double MemoryPeak::total() const
{
    return sum(bytes);
}

MemoryPeak replay_memory(const StageProgram& stage, const std::vector<Action>& actions)
{
    std::vector<ChunkBytes> chunks;
    for (const ChunkProgram& chunk : stage.chunks)
        chunks.push_back({chunk.chunk, of_lifetime(chunk.allocations, Lifetime::micro_batch),
            of_lifetime(chunk.allocations, Lifetime::weight_gradient),
            of_lifetime(chunk.allocations, Lifetime::forward), of_lifetime(chunk.allocations, Lifetime::backward)});
    Bytes alive = of_lifetime(stage.allocations, Lifetime::step);
    double alive_total = sum(alive);
    MemoryPeak peak;
    double peak_total = -1;
    const auto look = [&](const Bytes& extra) {
        const double total = alive_total + sum(extra);
        if (total <= peak_total)
            return;
        peak_total = total;
        peak.bytes = alive;
        add(peak.bytes, extra, 1);
    };
    int in_flight = 0;
    for (const Action& action : actions) {
        const auto found = std::find_if(
            chunks.begin(), chunks.end(), [&](const ChunkBytes& chunk) { return chunk.chunk == action.chunk; });
        if (found == chunks.end())
            continue;
        const ChunkBytes& chunk = *found;
        switch (action.kind) {
        case ActionKind::forward:
            add(alive, chunk.kept, 1);
            peak.in_flight = std::max(peak.in_flight, ++in_flight);
            break;
        case ActionKind::backward:
        case ActionKind::input_gradient:
            look(chunk.backward);
            add(alive, chunk.kept, -1);
            if (action.kind == ActionKind::input_gradient)
                add(alive, chunk.kept_for_weights, 1);
            else
                --in_flight;
            break;
        case ActionKind::weight_gradient:
            add(alive, chunk.kept_for_weights, -1);
            --in_flight;
            break;
        }
        alive_total = sum(alive);
        if (action.kind == ActionKind::forward)
            look(chunk.forward);
        else if (action.kind == ActionKind::input_gradient)
            look({});
    }
    look(of_lifetime(stage.allocations, Lifetime::update));
    return peak;
}

double device_overhead_gib(const ResolvedPlan& plan)
{
    return device_overhead_gib(plan.layout, Constants(plan.stack, plan.cluster.gpu.id));
}

double device_overhead_gib(const Layout& layout, const Constants& constants)
{
    int communicators = layout.gpus() > 1 ? 1 : 0; // the world
    for (int degree : {layout.tp, layout.cp, layout.pp, layout.dp, layout.ep})
        communicators += degree > 1 ? 1 : 0;
    return constants[Constant::context_memory_gib] + communicators * constants[Constant::communicator_memory_gib];
}

} // namespace fourfold
