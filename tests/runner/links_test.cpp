// SPDX-License-Identifier: GPL-3.0-or-later
// What joins a node's GPUs and the node to others, read off what nvidia-smi prints and the kernel's files.
#include "runner/agent/node/links.h"
#include "runner/agent/slurm/slurm_checks.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>

namespace fourfold::test {
namespace {

void put(const std::filesystem::path& file, const std::string& text)
{
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
}

TEST(GpuLinks, ASwitchPairsAndPcieAreToldApart)
{
    std::string status, both;
    for (int gpu = 0; gpu < 2; ++gpu) {
        status += "GPU " + std::to_string(gpu) + ": NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n";
        for (int link = 0; link < 18; ++link)
            status += "\t Link " + std::to_string(link) + ": 26.562 GB/s\n";
    }
    const std::string topology = "\t\033[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\033[0m\n"
                                 "GPU0\t X \tNV18\tPIX\t0-47\t0\nGPU1\tNV18\t X \tSYS\t48-95\t1\n"
                                 "NIC0\tPIX\tSYS\t X \n\nLegend:\n\n  X    = Self\n";
    const GpuLinks nvswitch = gpu_links(status, topology, "5, 16\n5, 16\n");
    EXPECT_EQ(nvswitch.links, 18);
    EXPECT_EQ(nvswitch.pair_links, 18);
    EXPECT_NEAR(nvswitch.gb_s, 478.1, 0.1);
    EXPECT_NEAR(nvswitch.pcie_gb_s, 63.0, 0.1);
    // A link that is down makes its GPU the weakest; two GPUs without one make the pair none.
    const GpuLinks weak
        = gpu_links("GPU 0: A\n\t Link 0: 25 GB/s\n\t Link 1: <inactive>\nGPU 1: A\n\t Link 0: 25 GB/s\n"
                    "\t Link 1: 25 GB/s\n",
            "GPU0\t X \tNV4\tSYS\nGPU1\tNV4\t X \tNV4\nGPU2\tSYS\tNV4\t X \n", "3, 16\n4, 16\n");
    EXPECT_EQ(weak.links, 1);
    EXPECT_EQ(weak.gb_s, 25);
    EXPECT_EQ(weak.pair_links, 0);
    EXPECT_NEAR(weak.pcie_gb_s, 15.8, 0.1);
    EXPECT_EQ(gpu_links("", "", "[N/A], [N/A]\n").gb_s, 0);
}

TEST(Adapters, ThoseOfInfiniBandHideTheNetworkInterfaces)
{
    const TemporaryFolder root;
    const std::filesystem::path net = root / "sys/class/net", fabric = root / "sys/class/infiniband";
    put(net / "eth0/speed", "25000");
    put(net / "eth0/operstate", "up");
    put(net / "eth0/device/vendor", "0x15b3");
    put(net / "eth1/speed", "-1");
    put(net / "eth1/operstate", "down");
    put(net / "eth1/device/vendor", "0x15b3");
    put(net / "docker0/speed", "10000");
    put(net / "docker0/operstate", "up");
    Json found = network_adapters(root.path());
    ASSERT_EQ(found.size(), 1u) << found.dump();
    EXPECT_EQ(found[0]["name"], "eth0");
    EXPECT_DOUBLE_EQ(found[0]["gb_s"].get<double>(), 3.125);
    for (const auto& [name, rate, state, layer] : {std::tuple{"mlx5_0", "100 Gb/sec (4X EDR)", "4: ACTIVE", "Ethernet"},
             std::tuple{"mlx5_1", "400 Gb/sec (4X NDR)", "4: ACTIVE", "InfiniBand"},
             std::tuple{"mlx5_2", "400 Gb/sec (4X NDR)", "1: DOWN", "InfiniBand"}}) {
        put(fabric / name / "ports/1/rate", rate);
        put(fabric / name / "ports/1/state", state);
        put(fabric / name / "ports/1/link_layer", layer);
    }
    found = network_adapters(root.path());
    ASSERT_EQ(found.size(), 2u) << found.dump();
    EXPECT_EQ(found[0], (Json{{"name", "mlx5_1"}, {"kind", "InfiniBand"}, {"gb_s", 50.0}}));
    EXPECT_EQ(found[1], (Json{{"name", "mlx5_0"}, {"kind", "RoCE"}, {"gb_s", 12.5}}));
}

TEST(Partitions, NodesOfOnePartitionAreCountedTogether)
{
    const Json found = partitions_json(parse_sinfo(
        "gpu*|up|idle|3|1-00:00:00|gpu:a100:8|128|1031000|ib,a100\ngpu*|up|mixed|2|1-00:00:00|gpu:a100:8|128+|1031000|"
        "ib\n"
        "gpu*|up|drained*|1|1-00:00:00|gpu:a100:8|128|1|(null)\nlow|inact|idle|4|infinite|(null)|16|64000|(null)\n"));
    ASSERT_EQ(found.size(), 2u) << found.dump();
    EXPECT_EQ(found[0]["nodes"], 6);
    EXPECT_EQ(found[0]["usable"], 5);
    EXPECT_EQ(found[0]["idle"], 3);
    EXPECT_EQ(found[0]["cores"], 128);
    EXPECT_EQ(found[0]["features"], "ib,a100");
    EXPECT_EQ(found[0]["default"], true);
    EXPECT_EQ(found[1]["up"], false);
    EXPECT_DOUBLE_EQ(found[1]["memory_gib"].get<double>(), 62.5);
}

// They are compared with each other, and travel in one message.
TEST(Partitions, MoreThanAClusterHasAreNone)
{
    std::string many;
    for (int i = 0; i < 20000; ++i)
        many += "p" + std::to_string(i) + "|up|idle|3|1-00:00:00|gpu:a100:8|128|1031000|ib\n";
    EXPECT_TRUE(partitions_json(parse_sinfo(many)).is_null());
}

} // namespace
} // namespace fourfold::test
