// SPDX-License-Identifier: GPL-3.0-or-later
// Where a plan runs: this computer or a list of SSH hosts. A file in presets/targets or the user's config folder.
#pragma once

#include "core/base/json.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

enum class TargetKind { local, ssh };

struct TargetHost {
    std::string address; // name, IP or ~/.ssh/config alias; checked against an allow-list of characters
    std::string user; // empty = ssh_config or login name
    int port = 0; // 0 = ssh_config or 22
    std::string key_file; // empty = agent and default keys
    std::string node_address; // numeric data-plane address; empty = the one SSH reached
    int ranks = 0; // ranks on this host; 0 = the plan's GPUs spread evenly
};

struct Target {
    std::string id = "local"; // preset id, file name or "local"
    TargetKind kind = TargetKind::local;
    std::vector<TargetHost> hosts; // one for local
    std::string base_folder; // run directories on the nodes; empty = ~/.local/share/fourfold
    std::string backend; // "gloo", "nccl"; empty = nccl where GPUs are, else gloo
    std::map<std::string, std::string> environment; // reaches every rank, recorded in the history
    double connect_timeout_s = 10;
    double stop_grace_s = 2; // from asking the ranks to stop to killing them
    bool reuse_files = true; // a file of the node under the same path counts when its content is the same
};

// "local", a preset id, a file (contains '/' or ends in .json), or "user@host1,host2:2222" for an ad-hoc host list; a
// host without a user takes the one before it.
Expected<Target> load_target(const std::string& name_or_file);
Expected<Target> target_from_json(const Json& json, const std::string& where);
Json to_json(const Target& target);

// "user@host:2222" as the user writes it; "this computer" for a local target.
std::string host_name(const Target& target, std::size_t host);
// Ranks of each host: hosts take consecutive ranks in their order. Fails when `gpus` cannot be spread as asked.
Expected<std::vector<int>> ranks_of_hosts(const Target& target, int gpus);

} // namespace fourfold
