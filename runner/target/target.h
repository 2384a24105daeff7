// SPDX-License-Identifier: GPL-3.0-or-later
// Where a plan runs: this computer, a list of SSH hosts, or a Slurm cluster. A file in presets/targets or the user's
// config folder; resources/schemas/target.schema.json describes it.
#pragma once

#include "core/base/json.h"
#include "core/base/words.h"
#include "runner/protocol/run_spec.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

enum class TargetKind { local, ssh, slurm };
template <>
inline constexpr auto kWords<TargetKind> = std::to_array<std::string_view>({"local", "ssh", "slurm"});

// A host that SSH reaches, as the user names it.
struct SshPlace {
    std::string address; // name, IP or ~/.ssh/config alias; checked against an allow-list of characters
    std::string user; // empty = ssh_config or login name
    int port = 0; // 0 = ssh_config or 22
    std::string key_file; // empty = agent and default keys
};

struct TargetHost : SshPlace {
    std::string node_address; // numeric data-plane address; empty = the one SSH reached
    int ranks = 0; // ranks on this host; 0 = the plan's GPUs spread evenly
    std::vector<SshPlace> jumps; // hosts on the way, the first one reached first; empty = ssh_config's ProxyJump
};

// What sbatch is asked for; empty = not said.
struct SlurmSettings {
    std::optional<TargetHost> login; // where sbatch is; none = this computer
    int nodes = 0; // 0 = as many as ranks_per_node asks for
    int ranks_per_node = 0; // 0 = the plan's GPUs spread evenly over `nodes`
    std::string partition, account, qos, time, gres, constraint, reservation;
    bool requeue = false; // a preempted job is queued again as a new attempt
    std::vector<std::string> lines; // further options of sbatch: "--mail-type=END"
};

struct Target : RunLimits {
    std::string id = "local"; // preset id, file name or "local"
    TargetKind kind = TargetKind::local;
    std::vector<TargetHost> hosts; // one for local; none for Slurm
    std::string base_folder; // run directories on the nodes; empty = ~/.local/share/fourfold
    std::vector<std::string> group_writable_folders; // on the way there, that their group may write; absolute
    std::string backend; // "gloo" (CPUs), "nccl" (GPUs); empty = as the plan's hardware
    std::map<std::string, std::string> environment; // reaches every rank, recorded in the history
    double connect_timeout_s = 10;
    double link_s = 5; // a link that nothing comes through for so long is made anew; nodes send heartbeats each second
    double reconnect_s = 300; // how long a host is tried again when a cut keeps it away while files are sent
    double stop_grace_s = 2; // from asking the ranks to stop to killing them
    bool reuse_files = true; // a file of the node under the same path counts when its content is the same

    std::vector<std::string> prelude; // shell lines that run on each node before the ranks; their environment is kept
    std::optional<Container> container;
    std::vector<std::string> secrets; // names of this program's variables that reach the ranks and are stored nowhere
    std::string interface; // on whose address the ranks meet; empty = the one that carries the node's address
    std::vector<std::string> hcas; // InfiniBand adapters for NCCL, "mlx5_0"; empty = NCCL's choice
    std::string numa = "gpu"; // ranks are bound to the GPU's node, local ranks to nodes in turn ("spread"), or "none"
    std::string host_order = "given"; // order in which hosts take ranks: "given" or "name" (natural order)
    bool mixed_gpus = false; // GPU models may differ between the ranks
    bool preflight = true; // probe the nodes before each run
    std::string upload = "auto"; // "parallel", "chain" (from node to node), or by size
    double events_gib = 2; // of a run's events that are stored on this computer; 0 = all of them
    std::optional<SlurmSettings> slurm; // with kind slurm
};

// "local", a preset id, a file (contains '/' or ends in .json), or "user@host1,host2:2222,node[01-16]" for an ad-hoc
// host list; a host without a user takes the one before it.
Expected<Target> load_target(const std::string& name_or_file);
// The same where a word that is no preset is a host: a name or an alias of ~/.ssh/config.
Expected<Target> target_of_host(const std::string& text);
Expected<Target> target_from_json(const Json& json, const std::string& where);
Json to_json(const Target& target);

// "user@host:2222" as the user writes it; "this computer" for a local target.
std::string host_name(const Target& target, std::size_t host);
std::string place_name(const SshPlace& place);
// Ranks of each host (of each node of a Slurm job): hosts take consecutive ranks in their order. Fails when `gpus`
// cannot be spread as asked.
Expected<std::vector<int>> ranks_of_hosts(const Target& target, int gpus);

} // namespace fourfold
