// SPDX-License-Identifier: GPL-3.0-or-later
// Prices of collectives against messages sent step by step (link_simulation.h). Latencies are 0: what counts is who
// shares which link.
#include "core/cost/links.h"
#include "core/cost/prices.h"
#include "core/plan/presets.h"
#include "tests/core/cost/link_simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace fourfold::test {
namespace {

constexpr double kBytes = 1e9;
constexpr double kGB = 1e9;

struct Machine {
    int gpus_per_node = 8;
    double node_gb_s = 400, nic_gb_s = 25; // per GPU and direction
    int rack_nodes = 0;
    double rack_gb_s = 0; // per GPU, between racks
};

std::string gpu_out(int rank)
{
    return "gpu " + std::to_string(rank) + " out";
}
std::string gpu_in(int rank)
{
    return "gpu " + std::to_string(rank) + " in";
}
std::string nic(int rank, const char* direction)
{
    return "nic of " + std::to_string(rank) + direction;
}

Network network_of(const Machine& machine, int gpus)
{
    Network network;
    for (int rank = 0; rank < gpus; ++rank) {
        network.add(gpu_out(rank), machine.node_gb_s * kGB);
        network.add(gpu_in(rank), machine.node_gb_s * kGB);
        network.add(nic(rank, " out"), machine.nic_gb_s * kGB);
        network.add(nic(rank, " in"), machine.nic_gb_s * kGB);
    }
    if (machine.rack_nodes > 0) {
        const int per_rack = machine.rack_nodes * machine.gpus_per_node;
        for (int rack = 0; rack * per_rack < gpus; ++rack) {
            network.add("rack " + std::to_string(rack) + " out", machine.rack_gb_s * kGB * per_rack);
            network.add("rack " + std::to_string(rack) + " in", machine.rack_gb_s * kGB * per_rack);
        }
    }
    return network;
}

Route route_of(const Machine& machine)
{
    return [machine](int a, int b) -> std::vector<std::string> {
        if (a / machine.gpus_per_node == b / machine.gpus_per_node)
            return {gpu_out(a), gpu_in(b)};
        std::vector<std::string> path{nic(a, " out"), nic(b, " in")};
        const int per_rack = machine.rack_nodes * machine.gpus_per_node;
        if (per_rack > 0 && a / per_rack != b / per_rack) {
            path.push_back("rack " + std::to_string(a / per_rack) + " out");
            path.push_back("rack " + std::to_string(b / per_rack) + " in");
        }
        return path;
    };
}

ResolvedPlan plan_on(const Machine& machine, const Layout& layout)
{
    ResolvedPlan plan;
    plan.layout = layout;
    plan.gpus = layout.gpus();
    plan.cluster.gpu.id = "test";
    plan.cluster.gpus_per_node = machine.gpus_per_node;
    plan.cluster.intra_node = {machine.node_gb_s, 0, IntraTopology::nvswitch, 0, 0, {}};
    plan.cluster.inter_node = {machine.nic_gb_s, 0, double(machine.gpus_per_node), 0, 0, 1};
    plan.cluster.rack = {machine.rack_nodes, machine.rack_gb_s, 0};
    return plan;
}

double priced(const ResolvedPlan& plan, CollectiveKind kind, GroupKind group, double bytes)
{
    CostContext context(plan);
    context.constants.set(Constant::intra_node_efficiency, 1);
    context.constants.set(Constant::inter_node_efficiency, 1);
    return price_collective({.kind = kind, .group = group, .bytes = bytes, .latency = Constant::zero}, context).seconds;
}

Groups groups_of(const Layout& layout, const std::vector<Dimension>& dimensions)
{
    Groups groups;
    for (int rank = 0; rank < layout.gpus(); ++rank) {
        std::vector<int> ranks = layout.group(rank, dimensions);
        std::sort(ranks.begin(), ranks.end());
        if (ranks.front() == rank)
            groups.push_back(ranks);
    }
    return groups;
}

// As NCCL does: a group with several ranks on a node runs one ring through each of them, so that every ring leaves the
// node by another adapter. Ring `turn` walks each node's ranks starting with another one.
Groups rings(const Groups& groups, int gpus_per_node, int turn)
{
    Groups turned = groups;
    for (auto& ranks : turned) {
        for (auto first = ranks.begin(); first != ranks.end();) {
            const auto last = std::find_if(
                first, ranks.end(), [&](int rank) { return rank / gpus_per_node != *first / gpus_per_node; });
            std::rotate(first, first + turn % (last - first), last);
            first = last;
        }
    }
    return turned;
}

// All rings of all groups at once.
double simulated_rings(
    const Machine& machine, const Layout& layout, const std::vector<Dimension>& dimensions, double bytes, int rounds)
{
    const Groups groups = groups_of(layout, dimensions);
    const int per_node = span(layout, dimensions, machine.gpus_per_node).per_node;
    Groups all;
    for (int turn = 0; turn < per_node; ++turn) {
        const Groups one = rings(groups, machine.gpus_per_node, turn);
        all.insert(all.end(), one.begin(), one.end());
    }
    return ring_seconds(network_of(machine, layout.gpus()), route_of(machine), all, bytes / per_node, rounds);
}

Layout layout_of(int tp, int cp, int pp, int dp, bool dp_inside = false)
{
    Layout layout;
    layout.tp = tp;
    layout.cp = cp;
    layout.pp = pp;
    layout.dp = dp;
    if (dp_inside)
        layout.order = {Dimension::tp, Dimension::cp, Dimension::dp, Dimension::pp};
    return layout;
}

TEST(CollectiveSimulation, InsideANode)
{
    const Machine machine;
    for (const int tp : {2, 4, 8}) {
        const Layout layout = layout_of(tp, 1, 1, 8 / tp);
        const ResolvedPlan plan = plan_on(machine, layout);
        // All rings of a node carry the same: one with everything takes as long as several with parts.
        const auto ring = [&](int rounds) {
            return ring_seconds(
                network_of(machine, 8), route_of(machine), groups_of(layout, {Dimension::tp}), kBytes, rounds);
        };
        EXPECT_NEAR(priced(plan, Collective::all_gather, GroupKind::tp, kBytes), ring(1), 1e-12) << tp;
        EXPECT_NEAR(priced(plan, Collective::reduce_scatter, GroupKind::tp, kBytes), ring(1), 1e-12) << tp;
        EXPECT_NEAR(priced(plan, Collective::all_reduce, GroupKind::tp, kBytes), ring(2), 1e-12) << tp;
        EXPECT_NEAR(priced(plan, Collective::all_to_all, GroupKind::tp, kBytes),
            exchange_seconds(network_of(machine, 8), route_of(machine), groups_of(layout, {Dimension::tp}), kBytes),
            1e-12)
            << tp;
    }
}

// Every rank has a link of its own to every other: it sends each its part directly.
TEST(CollectiveSimulation, PairsWithoutASwitch)
{
    Network network;
    for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 4; ++b)
            network.add(std::to_string(a) + " to " + std::to_string(b), 150 * kGB);
    }
    const Route route
        = [](int a, int b) { return std::vector<std::string>{std::to_string(a) + " to " + std::to_string(b)}; };
    Machine machine;
    machine.gpus_per_node = 4;
    for (const int tp : {2, 4}) {
        const Layout layout = layout_of(tp, 1, 1, 4 / tp);
        ResolvedPlan plan = plan_on(machine, layout);
        plan.cluster.intra_node = {450, 0, IntraTopology::pairs, 150, 0, {}};
        const double direct = exchange_seconds(network, route, groups_of(layout, {Dimension::tp}), kBytes);
        for (const CollectiveKind kind : {Collective::all_gather, Collective::reduce_scatter, Collective::all_to_all})
            EXPECT_NEAR(priced(plan, kind, GroupKind::tp, kBytes), direct, 1e-12) << tp;
    }
}

// Groups of every shape over several nodes, all of one kind at work at once: their ranks share the node's adapters.
TEST(CollectiveSimulation, GroupsShareTheAdaptersOfTheirNodes)
{
    const Machine machine;
    int compared = 0;
    for (const bool dp_inside : {false, true}) {
        for (const int tp : {1, 2, 4, 8}) {
            for (const int cp : {1, 2, 16}) {
                for (const int pp : {1, 2, 4}) {
                    const int dp = 64 / (tp * cp * pp);
                    if (dp < 1)
                        continue;
                    const Layout layout = layout_of(tp, cp, pp, dp, dp_inside);
                    const ResolvedPlan plan = plan_on(machine, layout);
                    const std::vector<std::pair<GroupKind, std::vector<Dimension>>> kinds{
                        {GroupKind::cp, {Dimension::cp}}, {GroupKind::dp, {Dimension::dp}},
                        {GroupKind::dp_cp, {Dimension::dp, Dimension::cp}}};
                    for (const auto& [kind, dimensions] : kinds) {
                        if (!span(layout, dimensions, 8).crosses_nodes())
                            continue;
                        ++compared;
                        const double once = simulated_rings(machine, layout, dimensions, kBytes, 1);
                        EXPECT_NEAR(priced(plan, Collective::all_gather, kind, kBytes), once, once * 1e-9);
                        EXPECT_NEAR(priced(plan, Collective::all_reduce, kind, kBytes), 2 * once, once * 1e-9);
                        const double exchange = exchange_seconds(
                            network_of(machine, 64), route_of(machine), groups_of(layout, dimensions), kBytes);
                        EXPECT_NEAR(priced(plan, Collective::all_to_all, kind, kBytes), exchange, exchange * 1e-9)
                            << "tp " << tp << " cp " << cp << " pp " << pp << " dp " << dp;
                    }
                }
            }
        }
    }
    EXPECT_GT(compared, 30);
}

// Racks whose uplinks carry a quarter of what their nodes could send: a ring that runs through all nodes of a rack
// leaves it only once, one with a single node in each rack leaves it at every step.
TEST(CollectiveSimulation, OversubscribedRacks)
{
    Machine machine;
    machine.rack_nodes = 4;
    machine.rack_gb_s = machine.nic_gb_s / 4;
    for (const bool dp_inside : {false, true}) {
        for (const int pp : {1, 2, 4}) {
            for (const int tp : {1, 4, 8}) {
                const Layout layout = layout_of(tp, 1, pp, 128 / (tp * pp), dp_inside);
                const ResolvedPlan plan = plan_on(machine, layout);
                const double once = simulated_rings(machine, layout, {Dimension::dp}, kBytes, 1);
                EXPECT_NEAR(priced(plan, Collective::reduce_scatter, GroupKind::dp, kBytes), once, once * 1e-9)
                    << "tp " << tp << " pp " << pp << " dp inside " << dp_inside;
                const double exchange = exchange_seconds(
                    network_of(machine, 128), route_of(machine), groups_of(layout, {Dimension::dp}), kBytes);
                EXPECT_NEAR(priced(plan, Collective::all_to_all, GroupKind::dp, kBytes), exchange, exchange * 1e-9)
                    << "tp " << tp << " pp " << pp << " dp inside " << dp_inside;
            }
        }
    }
}

// Hybrid sharding: reduce-scatter inside a shard's ranks, all-reduce between the copies.
TEST(CollectiveSimulation, HybridShards)
{
    const Machine machine;
    const Layout layout = [] {
        Layout hybrid = layout_of(2, 1, 1, 32);
        hybrid.dp_shard = 8;
        return hybrid;
    }();
    ResolvedPlan plan = plan_on(machine, layout);
    plan.training.sharding = Sharding::hybrid;
    // By hand: ranks of one TP coordinate, in runs of 8; copies of a shard are 8 ranks apart in that list.
    Groups shards, copies;
    for (int tp = 0; tp < 2; ++tp) {
        for (int run = 0; run < 4; ++run) {
            shards.emplace_back();
            for (int i = 0; i < 8; ++i)
                shards.back().push_back(tp + 2 * (8 * run + i));
        }
        for (int i = 0; i < 8; ++i) {
            copies.emplace_back();
            for (int run = 0; run < 4; ++run)
                copies.back().push_back(tp + 2 * (8 * run + i));
        }
    }
    Groups all;
    for (int turn = 0; turn < 4; ++turn) {
        const Groups one = rings(shards, 8, turn);
        all.insert(all.end(), one.begin(), one.end());
    }
    const Network network = network_of(machine, 64);
    const double scatter = ring_seconds(network, route_of(machine), all, kBytes / 4, 1);
    EXPECT_NEAR(priced(plan, Collective::reduce_scatter, GroupKind::dp_shard, kBytes), scatter, scatter * 1e-9);
    const double between = ring_seconds(network, route_of(machine), copies, kBytes, 2);
    EXPECT_NEAR(priced(plan, Collective::all_reduce, GroupKind::dp_replicate, kBytes), between, between * 1e-9);
}

// Tokens drawn one by one: how many copies leave the first node when every node gets one (or one for each expert).
double mean_copies_out(int nodes, int groups, int groups_used, bool once)
{
    const int experts = 256, active = 8, tokens = 20000;
    std::mt19937 random(7);
    double copies = 0;
    for (int token = 0; token < tokens; ++token) {
        std::vector<int> order(static_cast<std::size_t>(groups));
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        std::vector<int> allowed;
        for (int g = 0; g < groups_used; ++g) {
            for (int i = 0; i < experts / groups; ++i)
                allowed.push_back(order[std::size_t(g)] * experts / groups + i);
        }
        std::shuffle(allowed.begin(), allowed.end(), random);
        std::vector<bool> seen(static_cast<std::size_t>(nodes), false);
        for (int i = 0; i < active; ++i) {
            const auto node = std::size_t(allowed[std::size_t(i)] / (experts / nodes));
            if (node != 0 && !(once && seen[node]))
                copies += 1;
            seen[node] = true;
        }
    }
    return copies / tokens;
}

TEST(CollectiveSimulation, ExpertsOnceANode)
{
    for (const int nodes : {4, 8, 16}) {
        Machine machine;
        machine.node_gb_s = 1e6; // the network decides
        Layout layout = layout_of(1, 1, 1, 8 * nodes);
        layout.ep = 8 * nodes;
        ResolvedPlan plan = plan_on(machine, layout);
        plan.model.experts.emplace();
        CostContext context(plan);
        context.constants.set(Constant::inter_node_efficiency, 1);
        context.constants.set(Constant::intra_node_efficiency, 1);
        Collective op{.kind = Collective::all_to_all,
            .group = GroupKind::ep,
            .bytes = kBytes, // eight copies of every token
            .latency = Constant::zero,
            .routing = {.active = 8, .experts = 256, .groups = 8}};
        const double per_copy = kBytes / op.routing.active / (machine.nic_gb_s * kGB);
        const double each = mean_copies_out(nodes, 8, 8, false) * per_copy;
        EXPECT_NEAR(price_collective(op, context).seconds, each, each * 0.01) << nodes;
        context.constants.set(Constant::expert_send_once, 1);
        const double once = mean_copies_out(nodes, 8, 8, true) * per_copy;
        EXPECT_NEAR(price_collective(op, context).seconds, once, once * 0.01) << nodes;
        op.routing.active_groups = 4; // DeepSeek-V3: experts of at most four of the groups
        const double limited = mean_copies_out(nodes, 8, 4, true) * per_copy;
        EXPECT_NEAR(price_collective(op, context).seconds, limited, limited * 0.02) << nodes;
        EXPECT_LT(limited, once);
    }
}

// Sequence parts of ranks by hand: what one layer's context collectives have to carry.
TEST(CollectiveSimulation, ContextParallelTraffic)
{
    static const Presets presets;
    for (const char* method : {"all-gather", "ulysses"}) {
        const Json document{{"model", "llama-3.1-8b"}, {"cluster", "dgx-h100"}, {"gpus", 32},
            {"layout", {{"tp", 2}, {"cp", 4}, {"dp", 4}}},
            {"training", {{"seq_len", 8192}, {"global_batch", 64}, {"cp_method", method}}}};
        const auto parsed = plan_from_json(document, "test");
        ASSERT_TRUE(parsed) << parsed.error().line();
        auto plan = resolve(*parsed, presets);
        ASSERT_TRUE(plan) << plan.error().line();
        plan->cluster.intra_node.latency_us = 0;
        CostContext context(*plan);
        context.constants.set(Constant::intra_node_efficiency, 1);
        context.constants.set(Constant::collective_latency_s, 0);
        double forward = 0, backward = 0; // one layer
        for (const StageProgram& stage : build_program(*plan)) {
            for (const Operation& op : stage.chunks.front().operations) {
                if (op.part == Part::cp)
                    (op.phase == Phase::forward ? forward : backward) += price(op, context).seconds;
            }
        }
        Machine machine;
        machine.node_gb_s = plan->cluster.intra_node.bandwidth_gb_s;
        const Network network = network_of(machine, 32);
        const Route route = route_of(machine);
        const Groups groups = groups_of(plan->layout, {Dimension::cp});
        // bf16; 32 heads and 8 key-value heads of 128, half of them on a TP rank; 2048 tokens of a sequence on a CP
        // rank.
        const double queries = 2048 * 16 * 128 * 2.0, keys_and_values = 2048 * 2 * 4 * 128 * 2.0;
        if (std::string(method) == "all-gather") {
            const double gather = ring_seconds(network, route, groups, 4 * keys_and_values, 1);
            EXPECT_NEAR(forward, gather, gather * 1e-9);
            EXPECT_NEAR(backward, 2 * gather, gather * 1e-9) << "gathered again, and their gradients scattered";
        } else {
            const double exchange = exchange_seconds(network, route, groups, 2 * queries + keys_and_values);
            EXPECT_NEAR(forward, exchange, exchange * 1e-9) << "queries, keys, values and outputs";
            EXPECT_NEAR(backward, exchange, exchange * 1e-9);
        }
    }
}

} // namespace
} // namespace fourfold::test
