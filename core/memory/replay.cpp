// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory/replay.h"
#include "core/layout/mesh.h"
#include "core/plan/plan_constants.h"
#include "core/plan/shared_numbers.h"
#include "core/program/allocations.h"
#include "core/schedule/schedules.h"

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

namespace {

// Of the bundled trainer, on the rank that has most (runner/trainer/comm/mesh.cpp; a rehearsal has the same ones). A
// link of its pipelines has buffers for one way between two ranks; nobody has measured them yet.
double own_communicators(const ResolvedPlan& plan)
{
    constexpr double kLink = 0.5;
    const Layout& layout = plan.layout;
    const DeviceMesh mesh(layout, plan.model.kv_heads);
    const auto is_group = [&](Axis axis) { return mesh.degree(axis) > 1; };
    const bool copies = is_group(Axis::dp_replicate); // HSDP
    double count = 0;
    for (const bool made : {layout.gpus() > 1, layout.tp > 1, is_group(Axis::keys), layout.cp > 1,
             layout.dp * layout.cp > 1, copies, copies && is_group(Axis::dp_shard), replicas_share_numbers(plan)})
        count += made ? 1 : 0;
    if (plan.model.experts) {
        // Groups of experts with the members of one of the others share its communicator. So many ranks of the same
        // kind stand so many places apart in a stage.
        struct Ranks {
            int apart, degree;
            bool operator==(const Ranks&) const = default;
        };
        const auto ranks = [&](int apart, Axis axis) { return Ranks{apart, mesh.degree(axis)}; };
        const int tp = layout.tp, expert = mesh.degree(Axis::etp) * mesh.degree(Axis::ep);
        const Ranks shard = ranks(expert, Axis::edp_shard),
                    replicate = ranks(expert * shard.degree, Axis::edp_replicate), replicas{tp, layout.dp * layout.cp};
        const auto is_new = [](const Ranks& own, const Ranks& other) { return own.degree > 1 && own != other; };
        const bool numbers = replicas_share_numbers(plan);
        for (const bool made :
            {is_new(ranks(1, Axis::etp), {1, tp}), is_group(Axis::ep), is_new(shard, ranks(tp, Axis::dp_shard)),
                is_new(replicate, ranks(tp * mesh.degree(Axis::dp_shard), Axis::dp_replicate)),
                numbers && is_new(shard, replicas), numbers && is_new(replicate, replicas)})
            count += made ? 1 : 0;
    }
    if (layout.pp == 1)
        return count;
    const bool v = traits_of(plan.training.schedule).order == ChunkOrder::v;
    const int at_an_end = layout.virtual_stages > 1 ? 4 : 2; // activations come back to the first stage
    const int between = layout.pp == 2 ? 0 : v ? 8 : 4;
    const double ends = v ? 0 : 1; // the first stage and the last add up what both have
    return count + std::max(kLink * at_an_end + ends, kLink * between);
}

} // namespace

double device_overhead_gib(const ResolvedPlan& plan)
{
    return device_overhead_gib(plan, constants_of(plan));
}

double device_overhead_gib(const ResolvedPlan& plan, const Constants& constants)
{
    const Layout& layout = plan.layout;
    double communicators = 0;
    if (is_our_trainer(constants))
        communicators = own_communicators(plan);
    else
        for (const int degree : {layout.gpus(), layout.tp, layout.cp, layout.pp, layout.dp, layout.ep})
            communicators += degree > 1 ? 1 : 0;
    return constants[Constant::context_memory_gib] + communicators * constants[Constant::communicator_memory_gib];
}

} // namespace fourfold
