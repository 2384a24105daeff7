// SPDX-License-Identifier: GPL-3.0-or-later
// Which cluster preset found nodes are, by their GPU and links, and the preset that is written where none is like them.
#pragma once

#include "core/plan/presets.h"
#include "runner/preflight/found_cluster.h"

#include <string>
#include <vector>

namespace fourfold {

// GPU presets that a name as nvidia-smi's or Slurm's may mean, the nearest in memory first: "NVIDIA H100 80GB HBM3",
// "a100". `memory_gib`: of the GPU; 0 = only what the name says. A board for PCIe or NVL is not one for SXM.
std::vector<std::string> gpus_meant(const std::string& name, double memory_gib, const Presets& presets);

struct ClusterMatch {
    std::string id; // of a cluster preset
    // Same GPU, as many a node, links alike (or, in `told`, not seen); else it is only the nearest.
    bool same = false, told = false;
    std::string why; // "the same GPU, 8 a node, links within 6 %"
};
// Best first; empty where no preset has such a GPU, and for cores.
std::vector<ClusterMatch> clusters_like(const FoundNodes& nodes, const Presets& presets);

// What a plan names as its cluster for this choice.
struct PlannedCluster {
    std::string id; // a preset that there is, or the one below; empty: nothing is known before ranks are measured
    std::optional<Json> preset; // to be written under that id
    std::string why; // one sentence
};
// Fails where the GPU is of no preset, or `choice.like` is none.
Expected<PlannedCluster> planned_cluster(
    const FoundCluster& found, const ClusterChoice& choice, const Presets& presets);

struct SavedCluster {
    std::string target, cluster; // ids; cluster may be empty, as above
    std::filesystem::path target_file, cluster_file; // cluster_file empty: nothing was written
    int gpus = 0; // for the plan; 0 = its own
};
// Whether something that is found can be saved under the id, as far as that is known before the look.
Expected<void> check_saved_id(const std::string& id, const std::string& like);
// Writes both to the user's presets. Somebody else's file under the id stays (`refused`); one that a look or a
// measurement wrote is replaced, but a measured cluster is kept and used.
// What you wrote into such a target beside what was found (a prelude, variables, time limits ...) stays in it.
Expected<SavedCluster> save_found(const FoundCluster& found, const ClusterChoice& choice, const Presets& presets);

} // namespace fourfold
