// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory/replay.h"
#include "core/plan/plan_constants.h"
#include "core/plan/shared_numbers.h"
#include "core/program/allocations.h"

#include <algorithm>
#include <span>

namespace fourfold {
namespace {

double sum(const KindBytes& bytes)
{
    double total = 0;
    for (double part : bytes)
        total += part;
    return total;
}

KindBytes of_lifetime(const std::vector<Allocation>& allocations, Lifetime lifetime)
{
    KindBytes bytes{};
    for (const Allocation& allocation : allocations) {
        if (allocation.lifetime == lifetime)
            bytes[static_cast<std::size_t>(allocation.kind)] += allocation.bytes;
    }
    return bytes;
}

struct HeldBytes {
    HeldMicroBatches held;
    KindBytes kept{}, kept_for_weights{}, in_forward{}, in_loss{}, in_backward{};
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

// The walk over a stage, and the update after it: during(index, instant, alive, extra, chunks), after(index, alive,
// in_flight, chunks). A loss that takes nothing is no instant.
template <typename During, typename After>
void walk(const StageProgram& stage, const std::vector<Action>& actions, int also_held, During&& during, After&& after)
{
    std::vector<HeldBytes> chunks = chunk_bytes(stage);
    KindBytes alive = of_lifetime(stage.allocations, Lifetime::step);
    const auto hold = [&](int times) {
        for (HeldBytes& chunk : chunks) {
            add_bytes(alive, chunk.kept, times);
            chunk.held.whole += times;
        }
    };
    if (also_held > 0)
        hold(also_held);
    int in_flight = also_held * int(chunks.size());
    alive = walk_actions(
        std::span(actions), alive,
        [&](int number) -> HeldBytes* {
            for (HeldBytes& chunk : chunks) {
                if (chunk.held.chunk == number)
                    return &chunk;
            }
            return nullptr;
        },
        [&](std::size_t index, Instant instant, const KindBytes& bytes, const KindBytes& extra) {
            if (instant != Instant::loss || sum(extra) > 0)
                during(index, instant, bytes, extra, chunks);
        },
        [&](HeldBytes& chunk, int whole, int waiting) {
            chunk.held.whole += whole;
            chunk.held.waiting += waiting;
            in_flight += whole + waiting;
        },
        [&](std::size_t index, const KindBytes& bytes) { after(index, bytes, in_flight, chunks); });
    if (also_held > 0)
        hold(-also_held);
    during(actions.size(), Instant::update, alive, of_lifetime(stage.allocations, Lifetime::update), chunks);
}

} // namespace

MemoryPeak replay_memory(const StageProgram& stage, const std::vector<Action>& actions, int also_held)
{
    MemoryPeak peak;
    double peak_total = -1;
    const auto look = [&](std::size_t index, Instant instant, const KindBytes& alive, const KindBytes& extra,
                          const std::vector<HeldBytes>& chunks) {
        const double total = sum(alive) + sum(extra);
        if (total <= peak_total)
            return;
        peak_total = total;
        peak.instant = instant;
        peak.chunk = index < actions.size() ? actions[index].chunk : -1;
        peak.bytes = alive;
        add_bytes(peak.bytes, extra, 1);
        peak.held.clear();
        for (const HeldBytes& chunk : chunks)
            peak.held.push_back(chunk.held);
    };
    walk(stage, actions, also_held, look,
        [&](std::size_t index, const KindBytes& alive, int count, const std::vector<HeldBytes>& chunks) {
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
        [&](std::size_t index, Instant kind, const KindBytes& alive, const KindBytes& extra, const auto&) {
            MemoryInstant instant;
            instant.action = index < actions.size() ? static_cast<int>(index) : -1;
            instant.kind = kind;
            instant.during = alive;
            instant.after = alive;
            add_bytes(instant.during, extra, 1);
            const bool same_pass = !instants.empty() && instants.back().action == instant.action;
            if (!same_pass)
                instants.push_back(instant);
            else if (sum(instant.during) > sum(instants.back().during)) // the loss and its backward are one pass
                instants.back() = instant;
        },
        [&](std::size_t, const KindBytes& alive, int, const auto&) { instants.back().after = alive; });
    return instants;
}

double device_overhead_gib(const ResolvedPlan& plan)
{
    return device_overhead_gib(plan, constants_of(plan));
}

double device_overhead_gib(const ResolvedPlan& plan, const Constants& constants)
{
    const Layout& layout = plan.layout;
    int communicators = layout.gpus() > 1 ? 1 : 0; // the world
    communicators += is_our_trainer(constants) && replicas_share_numbers(plan) ? 1 : 0;
    for (int degree : {layout.tp, layout.cp, layout.pp, layout.dp, layout.ep})
        communicators += degree > 1 ? 1 : 0;
    return constants[Constant::context_memory_gib] + communicators * constants[Constant::communicator_memory_gib];
}

} // namespace fourfold
