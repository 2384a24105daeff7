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
    Bytes kept{}, forward{}, backward{};
};

} // namespace

double MemoryPeak::total() const
{
    return sum(bytes);
}

MemoryPeak replay_memory(const StageProgram& stage, const std::vector<Action>& actions)
{
    const int stages = stage.chunks.size() > 1 ? stage.chunks[1].chunk - stage.chunks[0].chunk : 1;
    std::vector<ChunkBytes> chunks;
    for (const ChunkProgram& chunk : stage.chunks)
        chunks.push_back({of_lifetime(chunk.allocations, Lifetime::micro_batch),
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
        if (chunks.empty())
            break;
        const auto local = static_cast<std::size_t>((action.chunk - stage.chunks[0].chunk) / std::max(1, stages));
        const ChunkBytes& chunk = chunks[std::min(local, chunks.size() - 1)];
        if (action.kind == ActionKind::forward) {
            add(alive, chunk.kept, 1);
            alive_total = sum(alive);
            peak.in_flight = std::max(peak.in_flight, ++in_flight);
            look(chunk.forward);
        } else if (action.kind == ActionKind::backward) {
            look(chunk.backward);
            add(alive, chunk.kept, -1);
            alive_total = sum(alive);
            --in_flight;
        }
    }
    look(of_lifetime(stage.allocations, Lifetime::update));
    return peak;
}

double device_overhead_gib(const ResolvedPlan& plan)
{
    const Constants constants(plan.stack, plan.cluster.gpu.id);
    const Layout& layout = plan.layout;
    int communicators = layout.gpus() > 1 ? 1 : 0; // the world
    for (int degree : {layout.tp, layout.cp, layout.pp, layout.dp, layout.ep})
        communicators += degree > 1 ? 1 : 0;
    return constants[Constant::context_memory_gib] + communicators * constants[Constant::communicator_memory_gib];
}

} // namespace fourfold
