// SPDX-License-Identifier: GPL-3.0-or-later
// GPUs, links and how groups of ranks lie on nodes.
#pragma once

#include "core/base/json.h"
#include "core/hardware/torus.h"
#include "core/layout/layout.h"
#include "core/layout/training.h"

#include <map>
#include <optional>
#include <string>

namespace fourfold {

// One accelerator. Bandwidths in 10^9 bytes/s, memory in GiB (2^30), peaks in dense TFLOP/s (10^12).
struct Gpu {
    std::string id, name;
    std::string generation; // of its chip: "ampere", "hopper"; kernels and their rates go by it; empty: unknown
    double memory_gib = 0; // usable by a program
    double memory_bandwidth_gb_s = 0;
    std::optional<double> bf16_tflops, fp16_tflops, fp8_tflops, fp4_tflops, fp32_tflops;
    int multiprocessors = 0; // 0 = no tile/wave quantization (CPU, TPU)
    double power_w = 0; // board power limit
    double design_power_w = 0; // for which the peaks are stated, where the limit is lower; 0 = power_w
    double product_power_w = 0; // at which matrix products would keep the clock of the peaks; 0 = not known
    double exponentials_per_clock = 16; // of a multiprocessor's special function units; 16 from Volta to Blackwell
    double host_link_gb_s = 0; // to the memory of its host, one way; 0 = not known

    // Dense peak for matrix products of `precision` in FLOP/s; fp8 and nvfp4 fall back to bf16 where the GPU has none.
    [[nodiscard]] double peak_flops(Precision precision) const;
    // Board power limit over the power for which the peaks are stated; 1 where the sheet has only one.
    [[nodiscard]] double power_share() const
    {
        return power_w > 0 && design_power_w > 0 ? power_w / design_power_w : 1;
    }
    [[nodiscard]] bool is_cpu() const { return id == "cpu"; }
};

enum class IntraTopology { nvswitch, pairs, torus };
template <>
inline constexpr auto kWords<IntraTopology> = std::to_array<std::string_view>({"switch", "pairs", "torus"});

// Bandwidths per GPU and direction.
struct IntraNode {
    double bandwidth_gb_s = 0, latency_us = 5;
    IntraTopology topology = IntraTopology::nvswitch;
    double pair_gb_s = 0; // one pair (torus: one link), where there is no switch; 0 = bandwidth_gb_s (torus: its share)
    double hop_us = 0; // one step of a ring; 0 = a share of latency_us, see ring_step_us()
    TorusShape torus; // of the node's GPUs, where that is the topology
    // Speed of one link of the torus.
    [[nodiscard]] double torus_link_gb_s() const;
    // Of the way between two neighbours, whatever joins them.
    [[nodiscard]] double link_gb_s() const;
};
struct InterNode {
    double bandwidth_gb_s = 0, latency_us = 10; // bandwidth: a GPU's share of the node's NICs
    double nics_per_node = 0;
    double p2p_gb_s = 0; // per node, measured limit of point-to-point traffic across nodes; 0 = unknown
    double hop_us = 0; // one step of a ring between nodes; 0 = a share of latency_us, see ring_step_us()
    // Of the adapters' bandwidth what a GPU reaches where its way leads through the other CPU socket (ranks not bound
    // to their NUMA node) or a PCIe switch that GPUs share.
    double nic_share = 1;
};
// One step of a ring against the start of a collective: 1.9 of 5 us inside a node, 4 of 10 us between nodes, as NCCL's
// tuning table has them (src/graph/tuning.cc, LL128, NVLink and network).
inline double ring_step_us(double hop_us, double latency_us)
{
    return hop_us > 0 ? hop_us : 0.4 * latency_us;
}
struct Rack {
    int nodes = 0; // 0 = no rack level
    double bandwidth_gb_s = 0, latency_us = 0;
};

// Constants of the cost model that were fitted to runs of one stack on this cluster (`fourfold calibrate --cluster`).
struct ClusterCalibration {
    std::string stack; // preset id; others are not touched
    std::map<std::string, double> constants; // by documented name (core/stack/constants.h)
};

struct Cluster {
    std::string id, name;
    Gpu gpu;
    int gpus_per_node = 8;
    IntraNode intra_node;
    InterNode inter_node;
    Rack rack;
    std::optional<ClusterCalibration> calibration; // of the preset; plans with the cluster inlined have none
};

Expected<Gpu> gpu_from_json(const Json& json, const std::string& where);
Json to_json(const Gpu& gpu);
// `gpu` may be an id; the caller resolves it first (core/plan/presets.h does).
Expected<Cluster> cluster_from_json(const Json& json, const Gpu& gpu, const std::string& where);
Json to_json(const Cluster& cluster);

// How one group of ranks lies on the nodes, e.g. the TP group of rank 0.
struct GroupSpan {
    int size = 1; // ranks in the group
    int nodes = 1; // distinct nodes it touches
    int per_node = 1; // its largest number of ranks on one node
    int racks = 0; // distinct racks it touches; 0 = not looked at
    GroupAxes torus{}; // of its ranks on one node, where the node is a torus
    [[nodiscard]] bool crosses_nodes() const { return nodes > 1; }
    // The same for groups of one size whose communication costs the same.
    [[nodiscard]] std::uint32_t key() const;
};
// Worst span over all groups that vary `dimensions` in `layout`; ranks fill nodes in order.
GroupSpan span(const Layout& layout, const std::vector<Dimension>& dimensions, int gpus_per_node);

} // namespace fourfold
