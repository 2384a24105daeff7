// SPDX-License-Identifier: GPL-3.0-or-later
// Every shipped model, GPU and cluster file: readable, named after its id, with the source of its figures.
#include "core/hardware/cluster.h"
#include "core/model/model_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace fourfold {
namespace {

namespace fs = std::filesystem;

fs::path folder(const std::string& kind)
{
    return fs::path(FOURFOLD_SOURCE_DIR) / "presets" / kind;
}

std::map<std::string, Json> files(const std::string& kind)
{
    std::map<std::string, Json> out;
    for (const auto& entry : fs::directory_iterator(folder(kind))) {
        if (entry.path().extension() != ".json")
            continue;
        auto json = read_json_file(entry.path());
        if (!json)
            ADD_FAILURE() << json.error().line();
        else
            out[entry.path().stem().string()] = *std::move(json);
    }
    return out;
}

// Figures of hardware name their document one by one.
void expect_sources(const Json& json, const std::string& file, const std::vector<std::string>& figures)
{
    ASSERT_TRUE(json.contains("source")) << file;
    const Json& source = json["source"];
    if (figures.empty()) {
        ASSERT_TRUE(source.is_string()) << file;
        EXPECT_THAT(source.get<std::string>(), testing::ContainsRegex("\\(.*[12][0-9][0-9][0-9].*\\)"))
            << file << ": no date";
        return;
    }
    for (const std::string& figure : figures) {
        ASSERT_TRUE(source.contains(figure)) << file << " " << figure;
        EXPECT_FALSE(source[figure].get<std::string>().empty()) << file << " " << figure;
    }
}

void expect_ids(const std::map<std::string, Json>& found, const std::vector<std::string>& wanted)
{
    for (const std::string& id : wanted)
        EXPECT_TRUE(found.contains(id)) << "missing preset " << id;
    for (const auto& [file, json] : found)
        EXPECT_EQ(json.value("id", ""), file);
}

TEST(PresetFiles, Models)
{
    const auto models = files("models");
    expect_ids(models,
        {"llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b", "llama-2-7b", "llama-2-13b", "llama-2-70b", "gpt3-175b",
            "bloom-176b", "mixtral-8x7b", "deepseek-v3"});
    for (const auto& [id, json] : models) {
        expect_sources(json, id, {});
        const auto model = model_from_config(json, id);
        ASSERT_TRUE(model) << model.error().line();
        EXPECT_EQ(model->id, id);
        EXPECT_NE(model->name, id);
        EXPECT_GT(model->parameters(), 1e8) << id;
    }
}

TEST(PresetFiles, Gpus)
{
    const auto gpus = files("gpus");
    expect_ids(gpus,
        {"v100-32gb-sxm", "a100-40gb-sxm", "a100-80gb-sxm", "h100-80gb-sxm", "h100-94gb-sxm", "h100-96gb-hbm2e-500w",
            "h200-141gb-sxm", "b200-180gb", "gb200", "b300", "gb300", "h20-96gb", "gh200-96gb", "h800-80gb-sxm", "l40s",
            "mi325x", "mi355x", "tpu-v5e", "tpu-v5p", "tpu-v6e", "mi300x", "cpu"});
    for (const auto& [id, json] : gpus) {
        expect_sources(json, id, {"memory_gib", "memory_bandwidth_gb_s", "peak_tflops", "multiprocessors", "power_w"});
        const auto gpu = gpu_from_json(json, id);
        ASSERT_TRUE(gpu) << gpu.error().line();
        EXPECT_EQ(gpu->is_cpu(), id == "cpu");
        EXPECT_GT(gpu->peak_flops(Precision::bf16), 0) << id;
        EXPECT_GE(gpu->peak_flops(Precision::fp8), gpu->peak_flops(Precision::bf16)) << id;
        // What a program can use is never more than the board's nominal size.
        if (const auto at = id.find("gb"); at != std::string::npos && id.find('-') != std::string::npos) {
            const auto begin = id.rfind('-', at) + 1;
            EXPECT_LE(gpu->memory_gib, std::stod(id.substr(begin, at - begin))) << id;
        }
    }
    const auto h100 = gpu_from_json(gpus.at("h100-96gb-hbm2e-500w"), "");
    ASSERT_TRUE(h100);
    EXPECT_EQ(h100->peak_flops(Precision::bf16), 989e12); // torchtitan's utilization divides by it
    EXPECT_EQ(h100->power_w, 500);
}

TEST(PresetFiles, Clusters)
{
    const auto gpus = files("gpus");
    const auto clusters = files("clusters");
    expect_ids(clusters,
        {"abci-a", "tsubame4", "grand-teton-h100", "jean-zay-a100", "kempner-h100", "kempner-a100", "dgx-a100",
            "dgx-h100", "dgx-b200", "gb200-nvl72", "tpu-v5e-pod", "this-computer"});
    for (const auto& [id, json] : clusters) {
        expect_sources(json, id, {"gpus_per_node", "intra_node", "inter_node"});
        ASSERT_TRUE(json["gpu"].is_string()) << id;
        const auto gpu_id = json["gpu"].get<std::string>();
        ASSERT_TRUE(gpus.contains(gpu_id)) << id << " names " << gpu_id;
        const auto gpu = gpu_from_json(gpus.at(gpu_id), gpu_id);
        ASSERT_TRUE(gpu);
        const auto cluster = cluster_from_json(json, *gpu, id);
        ASSERT_TRUE(cluster) << cluster.error().line();
        EXPECT_GE(cluster->intra_node.bandwidth_gb_s, cluster->inter_node.bandwidth_gb_s) << id;
        const bool has_links = cluster->intra_node.topology != IntraTopology::nvswitch;
        EXPECT_EQ(cluster->intra_node.pair_gb_s > 0, has_links) << id;
    }
}

struct Fact {
    const char* cluster;
    const char* gpu;
    int gpus_per_node;
    double intra_gb_s, inter_gb_s_per_node;
    int nics;
};

// The facts that the published tables state about their machines, and the vendors' own systems.
TEST(PresetFiles, ClustersHoldThePublishedFacts)
{
    const Fact facts[]{
        {"abci-a", "a100-40gb-sxm", 8, 300, 4 * 25, 4},
        {"tsubame4", "h100-94gb-sxm", 4, 450, 4 * 25, 4},
        {"grand-teton-h100", "h100-96gb-hbm2e-500w", 8, 450, 8 * 50, 8},
        {"jean-zay-a100", "a100-80gb-sxm", 8, 300, 4 * 12.5, 4},
        {"kempner-h100", "h100-80gb-sxm", 4, 450, 4 * 50, 4},
        {"dgx-a100", "a100-80gb-sxm", 8, 300, 8 * 25, 8},
        {"dgx-h100", "h100-80gb-sxm", 8, 450, 8 * 50, 8},
        {"dgx-b200", "b200-180gb", 8, 900, 8 * 50, 8},
        {"gb200-nvl72", "gb200", 72, 900, 72 * 50, 72},
    };
    const auto clusters = files("clusters");
    for (const Fact& fact : facts) {
        ASSERT_TRUE(clusters.contains(fact.cluster));
        const Json& json = clusters.at(fact.cluster);
        EXPECT_EQ(json["gpu"], fact.gpu) << fact.cluster;
        EXPECT_EQ(json["gpus_per_node"], fact.gpus_per_node) << fact.cluster;
        EXPECT_EQ(json["intra_node"]["bandwidth_gb_s"], fact.intra_gb_s) << fact.cluster;
        EXPECT_DOUBLE_EQ(
            json["inter_node"]["bandwidth_gb_s"].get<double>() * fact.gpus_per_node, fact.inter_gb_s_per_node)
            << fact.cluster;
        EXPECT_EQ(json["inter_node"]["nics_per_node"], fact.nics) << fact.cluster;
    }
    EXPECT_EQ(clusters.at("tsubame4")["intra_node"]["topology"], "pairs");
    EXPECT_EQ(clusters.at("tsubame4")["intra_node"]["pair_gb_s"], 150);
}

} // namespace
} // namespace fourfold
