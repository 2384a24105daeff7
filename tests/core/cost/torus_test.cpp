// SPDX-License-Identifier: GPL-3.0-or-later
// Collectives on a torus against messages passed from chip to chip (link_simulation.h).
#include "core/cost/links.h"
#include "core/cost/prices.h"
#include "core/plan/presets.h"
#include "tests/core/cost/link_simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace fourfold::test {
namespace {

constexpr double kLink = 50e9;

// One axis of `length` chips, a ring where `closed`; link names say chip and direction.
struct Axis {
    int length = 4;
    bool closed = true;

    [[nodiscard]] Network network() const
    {
        Network network;
        for (int chip = 0; chip < length; ++chip) {
            network.add(std::to_string(chip) + "+", kLink);
            network.add(std::to_string(chip) + "-", kLink);
        }
        return network;
    }
    // From a to b in one direction.
    [[nodiscard]] std::vector<std::string> way(int a, int b, int step) const
    {
        std::vector<std::string> path;
        for (; a != b; a = (a + step + length) % length)
            path.push_back(std::to_string(a) + (step > 0 ? "+" : "-"));
        return path;
    }
};

// All-gather by passing on what arrived: chunks go both ways from every member; each takes the shorter way, on a ring
// those half way round are cut in two.
double gathered(const Axis& axis, const Groups& groups, double bytes)
{
    std::vector<Message> messages;
    for (const auto& ranks : groups) {
        const int p = int(ranks.size());
        const double chunk = bytes / p;
        for (int i = 0; i < p; ++i) {
            const int from = ranks[std::size_t(i)];
            // As far as the chunk has to travel each way, every member on the way keeps a copy.
            const int up = axis.closed ? (p - 1) / 2 : p - 1 - i, down = axis.closed ? (p - 1) / 2 : i;
            const auto at = [&](int place) { return ranks[std::size_t((place % p + p) % p)]; };
            if (up > 0)
                messages.push_back({axis.way(from, at(i + up), 1), chunk});
            if (down > 0)
                messages.push_back({axis.way(from, at(i - down), -1), chunk});
            if (axis.closed && p % 2 == 0) {
                messages.push_back({axis.way(at(i + up), at(i + p / 2), 1), chunk / 2});
                messages.push_back({axis.way(at(i - down), at(i - p / 2), -1), chunk / 2});
            }
        }
    }
    return step_seconds(axis.network(), messages);
}

double exchanged(const Axis& axis, const Groups& groups, double bytes)
{
    std::vector<Message> messages;
    for (const auto& ranks : groups) {
        const int p = int(ranks.size());
        for (int i = 0; i < p; ++i) {
            for (int j = 0; j < p; ++j) {
                const int from = ranks[std::size_t(i)], to = ranks[std::size_t(j)], ahead = (j - i + p) % p;
                const double part = bytes / p;
                if (!axis.closed)
                    messages.push_back({axis.way(from, to, j > i ? 1 : -1), part});
                else if (2 * ahead < p)
                    messages.push_back({axis.way(from, to, 1), part});
                else if (2 * ahead > p)
                    messages.push_back({axis.way(from, to, -1), part});
                else { // half way round: half of it each way
                    messages.push_back({axis.way(from, to, 1), part / 2});
                    messages.push_back({axis.way(from, to, -1), part / 2});
                }
            }
        }
    }
    return step_seconds(axis.network(), messages);
}

TorusShape line_of(int length, bool closed)
{
    TorusShape shape;
    shape.axes = {length, 1, 1};
    shape.closes_at = closed ? length : length + 1;
    return shape;
}

TEST(TorusSimulation, RingsAndLinesInterleavedOrNot)
{
    for (const bool closed : {false, true}) {
        for (const int length : {4, 6, 8, 16}) {
            for (const int members : {4, 6, 8, 16}) {
                if (length % members != 0)
                    continue;
                const int spacing = length / members;
                Groups groups(static_cast<std::size_t>(spacing));
                for (int rank = 0; rank < length; ++rank)
                    groups[std::size_t(rank % spacing)].push_back(rank);
                const Axis axis{length, closed};
                const GroupAxes place = group_axes(groups.front(), line_of(length, closed));
                EXPECT_EQ(place[0].ranks, members);
                EXPECT_EQ(place[0].spacing, spacing);
                const double bytes = 1e9, share = double(members - 1) / members;
                const double gather = gathered(axis, groups, bytes);
                EXPECT_NEAR(bytes * share / (gather_links(place) * kLink), gather, gather * 1e-9)
                    << length << " chips, " << members << " members, closed " << closed;
                const double exchange = exchanged(axis, groups, bytes);
                EXPECT_NEAR(bytes * exchange_load(place) / kLink, exchange, exchange * 1e-9)
                    << length << " chips, " << members << " members, closed " << closed;
            }
        }
    }
}

// Two halves of the data, one gathered along x then y, the other along y then x: all links are always busy.
TEST(TorusSimulation, ASquareUsesTheLinksOfBothAxes)
{
    for (const int side : {4, 8}) {
        const Axis axis{side, true};
        std::vector<int> ring(static_cast<std::size_t>(side));
        std::iota(ring.begin(), ring.end(), 0);
        const double bytes = 1e9;
        const double first = gathered(axis, {ring}, bytes / 2 / side); // one row's part of a half
        const double second = gathered(axis, {ring}, bytes / 2); // whole rows
        std::vector<int> all(static_cast<std::size_t>(side * side));
        std::iota(all.begin(), all.end(), 0);
        TorusShape pod;
        pod.axes = {side, side, 1};
        const GroupAxes place = group_axes(all, torus_slice(pod, side * side));
        EXPECT_EQ(gather_links(place), 4);
        const double p = side * side;
        EXPECT_NEAR(bytes * (p - 1) / p / (4 * kLink), first + second, (first + second) * 1e-9);
    }
}

TEST(Torus, SlicesAreCompactBoxes)
{
    TorusShape v5e;
    v5e.axes = {16, 16, 1};
    v5e.closes_at = 16;
    EXPECT_THAT(torus_slice(v5e, 8).axes, testing::ElementsAre(2, 4, 1));
    EXPECT_THAT(torus_slice(v5e, 16).axes, testing::ElementsAre(4, 4, 1));
    EXPECT_THAT(torus_slice(v5e, 128).axes, testing::ElementsAre(8, 16, 1));
    EXPECT_THAT(torus_slice(v5e, 256).axes, testing::ElementsAre(16, 16, 1));
    EXPECT_EQ(torus_slice(v5e, 17).chips(), 256) << "no box of 17 chips fits: somewhere in the pod";
    TorusShape v5p;
    v5p.axes = {16, 20, 28};
    v5p.closes_at = 4;
    EXPECT_THAT(torus_slice(v5p, 64).axes, testing::ElementsAre(4, 4, 4));
    EXPECT_THAT(torus_slice(v5p, 8960).axes, testing::ElementsAre(16, 20, 28));
    EXPECT_EQ(balanced_torus(256, 2).chips(), 256);
    EXPECT_EQ(balanced_torus(64, 3).dimensions(), 3);
}

ResolvedPlan pod_plan(int gpus, const Json& layout)
{
    static const Presets presets;
    const Json document{{"model", "llama-3.1-70b"}, {"cluster", "tpu-v5e-pod"}, {"gpus", gpus}, {"layout", layout},
        {"training", {{"global_batch", 256}}}};
    const auto plan = plan_from_json(document, "torus test");
    const auto resolved = plan ? resolve(*plan, presets) : Expected<ResolvedPlan>(plan.error());
    EXPECT_TRUE(resolved) << resolved.error().line();
    return *resolved;
}

double gather_seconds(const ResolvedPlan& plan, GroupKind group, CollectiveKind kind = Collective::all_gather)
{
    CostContext context(plan);
    context.constants.set(Constant::intra_node_efficiency, 1);
    context.cluster.intra_node.latency_us = context.cluster.intra_node.hop_us = 0;
    return price_collective({.kind = kind, .group = group, .bytes = 1e9, .latency = Constant::zero}, context).seconds;
}

// A pod of 16 x 16 chips, 50 GB/s a link: TP 16 fills one axis, DP 16 the other; neither sees the other's links.
TEST(Torus, AGroupSeesOnlyTheLinksOfItsAxes)
{
    const ResolvedPlan square = pod_plan(256, {{"tp", 16}, {"dp", 16}});
    EXPECT_NEAR(gather_seconds(square, GroupKind::tp), 15.0 / 16 / 100, 1e-9) << "a ring, both directions";
    EXPECT_NEAR(gather_seconds(square, GroupKind::dp), 15.0 / 16 / 100, 1e-9);
    const ResolvedPlan whole = pod_plan(256, {{"tp", 1}, {"dp", 256}});
    EXPECT_NEAR(gather_seconds(whole, GroupKind::dp), 255.0 / 256 / 200, 1e-9) << "all four links";
    const ResolvedPlan part = pod_plan(256, {{"tp", 4}, {"dp", 64}});
    EXPECT_NEAR(gather_seconds(part, GroupKind::tp), 3.0 / 4 / 50, 1e-9) << "a line of 4 in an axis of 16";
    // DP 64: 4 places along the first axis, 4 chips apart and shared by 4 groups, and the whole second axis.
    EXPECT_NEAR(gather_seconds(part, GroupKind::dp), 63.0 / 64 / (2.0 / 4 + 2) / 50, 1e-9);
    EXPECT_NEAR(gather_seconds(square, GroupKind::tp, Collective::all_to_all), 16.0 / 8 / 50, 1e-9)
        << "a quarter of the all-gather of what all ranks hold";
}

TEST(Torus, AShapeThatIsNotGivenIsGuessedFromTheLinks)
{
    Gpu gpu;
    gpu.memory_gib = gpu.memory_bandwidth_gb_s = 1;
    const Json json = Json::parse(R"({"gpus_per_node": 64, "inter_node": {"bandwidth_gb_s": 5},
        "intra_node": {"bandwidth_gb_s": 600, "pair_gb_s": 100, "topology": "torus"}})");
    const auto cluster = cluster_from_json(json, gpu, "test");
    ASSERT_TRUE(cluster) << cluster.error().line();
    EXPECT_THAT(cluster->intra_node.torus.axes, testing::ElementsAre(4, 4, 4));
    EXPECT_EQ(cluster->intra_node.torus_link_gb_s(), 100);
    Json wrong = json;
    wrong["intra_node"]["torus_axes"] = {8, 9};
    const auto refused = cluster_from_json(wrong, gpu, "test");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().line(), testing::HasSubstr("torus_axes"));
    EXPECT_THAT(refused.error().line(), testing::HasSubstr("64"));
}

} // namespace
} // namespace fourfold::test
