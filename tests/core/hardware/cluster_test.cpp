// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/hardware/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fourfold {
namespace {

using testing::HasSubstr;

Gpu any_gpu()
{
    Gpu gpu;
    gpu.id = "some-gpu";
    gpu.name = "Some GPU";
    gpu.memory_gib = 80;
    gpu.memory_bandwidth_gb_s = 2000;
    gpu.bf16_tflops = 300;
    return gpu;
}

const Json kFull = Json::parse(R"({
        "id": "c", "name": "Cluster", "gpu": "some-gpu", "gpus_per_node": 4,
        "intra_node": {"bandwidth_gb_s": 450, "latency_us": 3, "topology": "pairs", "pair_gb_s": 150},
        "inter_node": {"bandwidth_gb_s": 25, "latency_us": 12, "nics_per_node": 4, "p2p_gb_s": 19.2},
        "rack": {"nodes": 16, "bandwidth_gb_s": 12.5, "latency_us": 20} })");

TEST(Cluster, ReadsEveryKey)
{
    const auto cluster = cluster_from_json(kFull, any_gpu(), "c.json");
    ASSERT_TRUE(cluster) << cluster.error().line();
    EXPECT_EQ(cluster->gpu.id, "some-gpu");
    EXPECT_EQ(cluster->gpus_per_node, 4);
    EXPECT_EQ(cluster->intra_node.topology, IntraTopology::pairs);
    EXPECT_EQ(cluster->intra_node.pair_gb_s, 150);
    EXPECT_EQ(cluster->intra_node.latency_us, 3);
    EXPECT_EQ(cluster->inter_node.p2p_gb_s, 19.2);
    EXPECT_EQ(cluster->inter_node.nics_per_node, 4);
    EXPECT_EQ(cluster->rack.nodes, 16);
    EXPECT_EQ(cluster->rack.bandwidth_gb_s, 12.5);
}

TEST(Cluster, WritesWhatItReads)
{
    const auto cluster = cluster_from_json(kFull, any_gpu(), "c.json");
    ASSERT_TRUE(cluster);
    const Json written = to_json(*cluster);
    EXPECT_EQ(written["gpu"], to_json(any_gpu()));
    EXPECT_EQ(written["intra_node"]["topology"], "pairs");
    EXPECT_EQ(written["rack"]["nodes"], 16);
    const auto again = cluster_from_json(written, any_gpu(), "again");
    ASSERT_TRUE(again) << again.error().line();
    EXPECT_EQ(to_json(*again), written);
}

TEST(Cluster, BandwidthsAreEnough)
{
    const Json json = Json::parse(
        R"({"gpus_per_node": 8, "intra_node": {"bandwidth_gb_s": 300}, "inter_node": {"bandwidth_gb_s": 25}})");
    const auto cluster = cluster_from_json(json, any_gpu(), "plan.json: cluster");
    ASSERT_TRUE(cluster) << cluster.error().line();
    EXPECT_EQ(cluster->intra_node.topology, IntraTopology::nvswitch);
    EXPECT_GT(cluster->intra_node.latency_us, 0);
    EXPECT_GT(cluster->inter_node.latency_us, 0);
    EXPECT_EQ(cluster->inter_node.p2p_gb_s, 0); // unknown
    EXPECT_EQ(cluster->rack.nodes, 0);
    EXPECT_FALSE(to_json(*cluster).contains("rack"));
}

TEST(Cluster, NamesTheWrongField)
{
    struct Case {
        const char* pointer;
        Json value;
        const char* where;
        const char* message;
    };
    const Case cases[]{
        {"/gpus_per_node", nullptr, "c.json: gpus_per_node", "missing key"},
        {"/gpus_per_node", 0, "c.json: gpus_per_node", "found 0"},
        {"/gpus_per_node", 1e9, "c.json: gpus_per_node", "whole number"},
        {"/intra_node", nullptr, "c.json: intra_node", "missing key"},
        {"/inter_node", 25, "c.json: inter_node", "expected an object"},
        {"/intra_node/bandwidth_gb_s", nullptr, "c.json: intra_node: bandwidth_gb_s", "missing key"},
        {"/intra_node/bandwidth_gb_s", 0, "c.json: intra_node: bandwidth_gb_s", "above 0"},
        {"/intra_node/latency_us", -1, "c.json: intra_node: latency_us", "at least 0"},
        {"/intra_node/topology", "ring", "c.json: intra_node: topology", "expected one of switch, pairs, torus"},
        {"/intra_node/pair_gb_s", 451, "c.json: intra_node: pair_gb_s", "at most bandwidth_gb_s"},
        {"/inter_node/bandwidth_gb_s", "fast", "c.json: inter_node: bandwidth_gb_s", "found \"fast\""},
        {"/inter_node/nics_per_node", -4, "c.json: inter_node: nics_per_node", "at least 0"},
        {"/rack/nodes", nullptr, "c.json: rack: nodes", "missing key"},
        {"/rack/bandwidth_gb_s", nullptr, "c.json: rack: bandwidth_gb_s", "missing key"},
        {"/name", 7, "c.json: name", "expected a string"},
    };
    for (const Case& wrong : cases) {
        Json json = kFull;
        json[Json::json_pointer(wrong.pointer)] = wrong.value;
        const auto cluster = cluster_from_json(json, any_gpu(), "c.json");
        ASSERT_FALSE(cluster) << wrong.pointer;
        EXPECT_EQ(cluster.error().where, wrong.where);
        EXPECT_THAT(cluster.error().message, HasSubstr(wrong.message));
    }
}

} // namespace
} // namespace fourfold
