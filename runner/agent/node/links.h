// SPDX-License-Identifier: GPL-3.0-or-later
// What joins this node's GPUs to each other and the node to others, as the kernel and nvidia-smi tell it: nothing is
// sent and nothing measured.
#pragma once

#include "core/base/json.h"

#include <filesystem>
#include <string>

namespace fourfold {

// {"gpu_gb_s": of one GPU in one direction, its NVLinks together or else its PCIe slot; 0 = not known,
//  "gpu_links": NVLinks of a GPU, "pair_links": the fewest between two GPUs (all of them where a switch joins them),
//  "pcie_gb_s": of one GPU's slot,
//  "adapters": [{"name", "kind": "InfiniBand" | "RoCE" | "Ethernet", "gb_s"}] that are up, fastest first}
// GB/s are 10^9 bytes. `root` stands in for "/" in tests.
Json node_links(const std::filesystem::path& root = "/");

// The parts of it that nvidia-smi prints: `nvidia-smi nvlink --status`, `nvidia-smi topo -m` and
// `--query-gpu=pcie.link.gen.max,pcie.link.width.max`. Of GPUs that differ the weakest counts.
struct GpuLinks {
    int links = 0, pair_links = 0; // pair_links: 0 for one GPU
    double gb_s = 0, pcie_gb_s = 0;
};
GpuLinks gpu_links(const std::string& nvlink, const std::string& topology, const std::string& pcie);

// Adapters of other nodes' reach below `root`/sys/class, as above. Those of InfiniBand's class (RoCE too) hide the
// network interfaces, which are the same boards or slower ones.
Json network_adapters(const std::filesystem::path& root);

} // namespace fourfold
