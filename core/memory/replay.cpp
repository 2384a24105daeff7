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

struct HeldBytes {
    HeldMicroBatches held;
    Bytes kept{}, kept_for_weights{}, forward{}, loss{}, backward{};
};

} // namespace

double MemoryPeak::total() const
{
    return sum(bytes);
}

namespace {

std::vector<HeldBytes> chunk_bytes(const StageProgram& stage)
{
    std::vector<HeldBytes> chunks;
    for (const ChunkProgram& chunk : stage.chunks)
        chunks.push_back({{chunk.chunk}, of_lifetime(chunk.allocations, Lifetime::micro_batch),
            of_lifetime(chunk.allocations, Lifetime::weight_gradient),
            of_lifetime(chunk.allocations, Lifetime::forward), of_lifetime(chunk.allocations, Lifetime::loss),
            of_lifetime(chunk.allocations, Lifetime::backward)});
    return chunks;
}

// Goes through the actions: `during(index, instant, alive, extra, chunks)` while each runs, `after(index, alive,
// in_flight, chunks)` when it has ended. Of the allocations that live as long as a micro-batch, `alive` has those of a
// forward while it runs. A backward begins with the loss where the chunk has the head.
template <typename During, typename After>
void walk(const StageProgram& stage, const std::vector<Action>& actions, int also_held, During&& during, After&& after)
{
    std::vector<HeldBytes> chunks = chunk_bytes(stage);
    const Bytes nothing{};
    Bytes alive = of_lifetime(stage.allocations, Lifetime::step);
    const auto hold = [&](int times) {
        for (HeldBytes& chunk : chunks) {
            add(alive, chunk.kept, times);
            chunk.held.whole += times;
        }
    };
    if (also_held > 0)
        hold(also_held);
    int in_flight = also_held * int(chunks.size());
    for (std::size_t index = 0; index < actions.size(); ++index) {
        const Action& action = actions[index];
        const auto found = std::find_if(
            chunks.begin(), chunks.end(), [&](const HeldBytes& chunk) { return chunk.held.chunk == action.chunk; });
        if (found == chunks.end())
            continue;
        HeldBytes& chunk = *found;
        switch (action.kind) {
        case ActionKind::forward:
            add(alive, chunk.kept, 1);
            ++chunk.held.whole;
            ++in_flight;
            during(index, Instant::forward, alive, chunk.forward, chunks);
            break;
        case ActionKind::backward:
        case ActionKind::input_gradient:
            if (sum(chunk.loss) > 0)
                during(index, Instant::loss, alive, chunk.loss, chunks);
            during(index, Instant::backward, alive, chunk.backward, chunks);
            add(alive, chunk.kept, -1);
            --chunk.held.whole;
            if (action.kind == ActionKind::input_gradient) {
                add(alive, chunk.kept_for_weights, 1);
                ++chunk.held.waiting;
            } else {
                --in_flight;
            }
            break;
        case ActionKind::weight_gradient:
            during(index, Instant::backward, alive, nothing, chunks);
            add(alive, chunk.kept_for_weights, -1);
            --chunk.held.waiting;
            --in_flight;
            break;
        }
        after(index, alive, in_flight, chunks);
    }
    if (also_held > 0)
        hold(-also_held);
    during(actions.size(), Instant::update, alive, of_lifetime(stage.allocations, Lifetime::update), chunks);
}

} // namespace

MemoryPeak replay_memory(const StageProgram& stage, const std::vector<Action>& actions, int also_held)
{
    MemoryPeak peak;
    double peak_total = -1;
    const auto look = [&](std::size_t index, Instant instant, const Bytes& alive, const Bytes& extra,
                          const std::vector<HeldBytes>& chunks) {
        const double total = sum(alive) + sum(extra);
        if (total <= peak_total)
            return;
        peak_total = total;
        peak.instant = instant;
        peak.chunk = index < actions.size() ? actions[index].chunk : -1;
        peak.bytes = alive;
        add(peak.bytes, extra, 1);
        peak.held.clear();
        for (const HeldBytes& chunk : chunks)
            peak.held.push_back(chunk.held);
    };
    walk(stage, actions, also_held, look,
        [&](std::size_t index, const Bytes& alive, int count, const std::vector<HeldBytes>& chunks) {
            peak.in_flight = std::max(peak.in_flight, count);
            look(index, Instant::between, alive, {}, chunks);
        });
    return peak;
}

std::vector<MemoryInstant> replay_instants(const StageProgram& stage, const std::vector<Action>& actions)
{
    std::vector<MemoryInstant> instants;
    instants.reserve(actions.size() + 1);
    walk(
        stage, actions, 0,
        [&](std::size_t index, Instant kind, const Bytes& alive, const Bytes& extra, const auto&) {
            MemoryInstant instant;
            instant.action = index < actions.size() ? static_cast<int>(index) : -1;
            instant.kind = kind;
            instant.during = alive;
            instant.after = alive;
            add(instant.during, extra, 1);
            const bool same_pass = !instants.empty() && instants.back().action == instant.action;
            if (!same_pass)
                instants.push_back(instant);
            else if (sum(instant.during) > sum(instants.back().during)) // the loss and its backward are one pass
                instants.back() = instant;
        },
        [&](std::size_t, const Bytes& alive, int, const auto&) { instants.back().after = alive; });
    return instants;
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
