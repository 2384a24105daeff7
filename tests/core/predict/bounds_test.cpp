// SPDX-License-Identifier: GPL-3.0-or-later
// The bounds of a plan against arithmetic done by hand, on a cluster of round numbers.
#include "core/predict/bounds.h"

#include "tests/core/predict/random_plans.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fourfold::test {
namespace {

// 1500 TFLOP/s, 1 TB/s inside a node of 8, 50 GB/s between nodes, 1 us: the lecture's machine.
Json lecture_cluster(const char* topology = "switch")
{
    return {{"gpu",
                {{"name", "slide"}, {"memory_gib", 80}, {"memory_bandwidth_gb_s", 3000},
                    {"peak_tflops", {{"bf16", 1500}}}}},
        {"gpus_per_node", 8}, {"intra_node", {{"bandwidth_gb_s", 1000}, {"latency_us", 1}, {"topology", topology}}},
        {"inter_node", {{"bandwidth_gb_s", 50}, {"latency_us", 1}}}};
}

ResolvedPlan plan_of(const char* model, const Json& layout, int gpus, const char* topology = "switch")
{
    Json plan{{"model", model}, {"cluster", lecture_cluster(topology)}, {"gpus", gpus},
        {"stack",
            {{"id", "exact"},
                {"constants",
                    {{"gemm_efficiency", 1.0}, {"intra_node_efficiency", 1.0}, {"inter_node_efficiency", 1.0},
                        {"inter_node_decay", 0.0}}}}},
        {"layout", layout}, {"training", {{"seq_len", 8000}, {"micro_batches", 8}, {"precision", "bf16"}}}};
    return resolved(plan);
}

const LinkBound& link_of(const Bounds& bounds, const std::string& parallelism, LinkKind link)
{
    for (const LinkBound& found : bounds.links) {
        if (found.parallelism == parallelism && found.link == link)
            return found;
    }
    static const LinkBound kNone;
    ADD_FAILURE() << parallelism << " is missing";
    return kNone;
}

TEST(Bounds, FullyShardedBetweenNodesNeedsABatchOfOrderTen)
{
    const Bounds bounds = bounds_of(plan_of("llama-3.1-8b", {{"tp", 1}, {"dp", 32}}, 32));
    EXPECT_DOUBLE_EQ(bounds.compute_tflops, 1500);
    const LinkBound& network = link_of(bounds, "fsdp", LinkKind::network);
    EXPECT_TRUE(network.used);
    EXPECT_EQ(network.ranks, 32);
    // The slide has one GPU's link of 50 GB/s; here the eight ranks of a node share eight of them.
    EXPECT_NEAR(*network.bound.least_batch(), 3.75 / 8 * 31 / 32, 0.02);
    EXPECT_TRUE(network.compute_bound());
    const LinkBound& node = link_of(bounds, "fsdp", LinkKind::node);
    EXPECT_FALSE(node.used);
    EXPECT_LT(*node.bound.least_batch(), 1);

    // TP fills the node: each rank gathers alone through its own NIC, the lecture's case.
    const Bounds alone = bounds_of(plan_of("llama-3.1-8b", {{"tp", 8}, {"dp", 4}}, 32));
    EXPECT_NEAR(*link_of(alone, "fsdp", LinkKind::network).bound.least_batch(), 3.75 * 3 / 4, 0.1);
}

// TP: 4 S B h 2 bytes (p - 1) / p against 2 S B n / p FLOPs: the batch cancels, the width decides.
TEST(Bounds, TensorParallelismIsDecidedByWidthNotByBatch)
{
    const Bounds bounds = bounds_of(plan_of("llama-3.1-8b", {{"tp", 8}, {"dp", 4}}, 32));
    const LinkBound& node = link_of(bounds, "tp", LinkKind::node);
    ASSERT_TRUE(node.used);
    const double n = 2.0 * 4096 * 4096 + 2.0 * 4096 * 1024 + 3.0 * 4096 * 14336; // q, o, k, v, MLP
    EXPECT_NEAR(node.bound.compute_s_per_sequence, 2 * 8000 * n / 8 / 1500e12, 1e-9);
    EXPECT_NEAR(node.bound.transfer_s_per_sequence, 4 * 8000 * 4096 * 2 * 7.0 / 8 / 1e12, 1e-9);
    EXPECT_NEAR(node.bound.latency_s, 4e-6 * 3, 1e-12);
    EXPECT_TRUE(node.compute_bound());
    EXPECT_FALSE(link_of(bounds, "tp", LinkKind::network).bound.least_batch()) << "never across nodes";
}

TEST(Bounds, PipelinesAndExpertsByHand)
{
    const Bounds pipeline = bounds_of(plan_of("llama-3.1-8b", {{"tp", 8}, {"pp", 4}}, 32));
    const LinkBound& hop = link_of(pipeline, "pp", LinkKind::network);
    ASSERT_TRUE(hop.used);
    EXPECT_NEAR(hop.bound.transfer_s_per_sequence, 8000 * 4096 * 2 / 8.0 / 50e9, 1e-9);
    EXPECT_TRUE(hop.compute_bound()) << "pipelines cross nodes cheaply";

    const ResolvedPlan moe = plan_of("mixtral-8x7b", {{"tp", 1}, {"dp", 8}, {"ep", 8}}, 8);
    const Bounds of_experts = bounds_of(moe);
    const LinkBound& experts = link_of(of_experts, "ep", LinkKind::node);
    ASSERT_TRUE(experts.used);
    // Two of eight experts a token: sent and returned, 3 h f products of two FLOPs.
    EXPECT_NEAR(experts.bound.transfer_s_per_sequence, 2 * 8000 * 2 * 4096 * 2 * 7.0 / 8 / 1e12, 1e-9);
    EXPECT_NEAR(experts.bound.compute_s_per_sequence, 2 * 8000 * 2 * 3.0 * 4096 * 14336 / 1500e12, 1e-9);
    EXPECT_LT(link_of(bounds_of(moe), "fsdp", LinkKind::node).bound.transfer_s,
        link_of(bounds_of(plan_of("mixtral-8x7b", {{"dp", 8}}, 8)), "fsdp", LinkKind::node).bound.transfer_s)
        << "expert parallelism leaves fewer parameters to gather";
}

TEST(Bounds, WhatFitsWhere)
{
    const Bounds bounds = bounds_of(plan_of("llama-3.1-8b", {{"tp", 1}, {"dp", 32}}, 32));
    ASSERT_EQ(bounds.levels.size(), 3U);
    EXPECT_EQ(bounds.state_bytes_per_parameter, 2 + 4 + 4 + 8);
    EXPECT_DOUBLE_EQ(bounds.levels[0].most_parameters, 80 * 1073741824.0 / 18);
    EXPECT_FALSE(bounds.levels[0].holds_model);
    EXPECT_TRUE(bounds.levels[1].holds_model) << "8.03e9 parameters in 640 GiB";
    EXPECT_TRUE(bounds.levels[2].holds_model);
    EXPECT_FALSE(bounds_of(plan_of("llama-3.1-405b", {{"tp", 8}, {"dp", 4}}, 32)).levels[2].holds_model);
}

TEST(Bounds, AreAnsweredForAnyPlan)
{
    EXPECT_EQ(link_of(bounds_of(plan_of("llama-3.1-8b", {{"tp", 8}}, 8, "torus")), "tp", LinkKind::torus).ranks, 8);
    for (const ResolvedPlan& plan : random_valid_plans(100, 17)) {
        for (const LinkBound& link : bounds_of(plan).links) {
            EXPECT_TRUE(std::isfinite(link.bound.communication_s(link.batch))) << link.parallelism;
            EXPECT_GT(link.bound.compute_s(link.batch), 0) << link.parallelism;
            EXPECT_GE(link.ranks, 2);
        }
    }
}

} // namespace
} // namespace fourfold::test
