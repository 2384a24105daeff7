// SPDX-License-Identifier: GPL-3.0-or-later
// What stands behind one name: hosts with their GPUs and links, or a Slurm with its partitions; and what of it a person
// chooses as the target that is saved.
#pragma once

#include "runner/preflight/probe.h"

#include <string>
#include <vector>

namespace fourfold {

// As people type it; all but the name may be empty.
struct FindQuestions {
    std::string name; // host, alias of ~/.ssh/config, "user@a,b[1-4]", "local", or a target that is saved
    std::string jumps; // "gate,user@inner:2222", the first one reached first; empty = as ssh_config has it
    std::string base_folder; // of the nodes
    std::string prelude; // shell commands, a line each
};
// The hosts that are asked, with everything above in it.
Expected<Target> target_to_ask(const FindQuestions& questions);

struct FoundPartition {
    std::string name, limit; // limit: of time, "1-00:00:00" or "infinite"
    bool is_default = false, up = false; // up: takes jobs
    int nodes = 0, usable = 0, idle = 0; // usable: not down or drained
    int cores = 0; // of a node
    double memory_gib = 0; // of a node
    std::string gpu; // as its GRES or its features name it, "h100"; empty: no GPU, or nobody says which
    int gpus_per_node = 0;
    std::string features;
};

// What a plan's hardware is made of.
struct FoundNodes {
    int nodes = 0, gpus_per_node = 0; // gpus_per_node 0: cores only
    int cores = 0; // of a node
    std::string gpu; // as nvidia-smi or Slurm names it
    double gpu_memory_gib = 0; // 0 = not known
    bool seen = false; // on the nodes themselves; else Slurm said it
    int gpu_links = 0, pair_links = 0; // NVLinks of a GPU, and the fewest between two
    double gpu_gb_s = 0; // of one GPU in one direction to the others of its node, 10^9 bytes/s; 0 = not known
    int adapters = 0; // for the GPUs: of the fastest kind, one a GPU at most
    double adapter_gb_s = 0; // of each
    std::string network; // "InfiniBand"
    // A GPU's share of them, 10^9 bytes/s; 0 = not known.
    [[nodiscard]] double share_gb_s() const { return gpus_per_node > 0 ? adapters * adapter_gb_s / gpus_per_node : 0; }
};

struct FoundCluster {
    Target target; // that was asked
    ProbeReport report;
    std::vector<FoundPartition> partitions; // empty: no Slurm there
    std::string slurm_silence; // what was said instead of partitions where Slurm did not answer
    FoundNodes hosts; // those that answered, without Slurm
};

Expected<FoundCluster> find_cluster(const FindQuestions& questions, RunObserver& observer, std::stop_token stop,
    const std::filesystem::path& agent = {});
// What such a look says (pure). What a node tells is cut and freed of what a terminal would obey.
FoundCluster read_found(Target asked, ProbeReport report);

// What a person may change before it is saved; empty or 0 = as found.
struct ClusterChoice {
    std::string id; // of the target, and of the cluster where one is written
    bool slurm = false; // jobs in its queue instead of the hosts themselves
    int nodes = 0; // of Slurm, for the plan
    SlurmSettings queue; // partition, account, qos, time, lines ...; login, GRES and ranks are filled in
    std::string like; // cluster preset that it is taken for, in place of the best match
};
// The default partition, or the largest with GPUs where that has none; as many nodes as `gpus` need.
ClusterChoice first_choice(const FoundCluster& found, int gpus);
// The nodes of the choice, and as what they are saved: checked as a file would be.
FoundNodes chosen_nodes(const FoundCluster& found, const ClusterChoice& choice);
// Whether a target of the id would be read.
Expected<void> check_target_id(const std::string& id);
Expected<Target> chosen_target(const FoundCluster& found, const ClusterChoice& choice);
// GPUs of the plan on them; 0: it keeps its own number (cores only).
int chosen_gpus(const FoundCluster& found, const ClusterChoice& choice);

// What was found, a line each.
std::vector<std::string> found_lines(const FoundCluster& found);
std::string partition_line(const FoundPartition& partition);
Json to_json(const FoundCluster& found);

} // namespace fourfold
