// SPDX-License-Identifier: GPL-3.0-or-later
// A look at all nodes of a target: before every run in short, and by `fourfold probe` with speeds.
#pragma once

#include "runner/nodes/connections.h"
#include "runner/preflight/compare_nodes.h"
#include "runner/preflight/finding.h"
#include "runner/preflight/network.h"
#include "runner/target/target.h"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace fourfold {

struct ProbeReport {
    struct Host {
        std::string name;
        NodeFacts facts;
        Json speed; // null, or the object of runner/agent/node/node_speed.h
        Json links, slurm; // of LookFor::cluster: those of runner/agent/node/links.h and slurm/slurm_checks.h
    };
    std::vector<Host> hosts;
    NetworkLook network;
    std::vector<Finding> findings; // of everything, errors first
    [[nodiscard]] bool good() const; // no error among them
};

Json to_json(const ProbeReport& report);
std::string probe_text(const ProbeReport& report);
std::string host_line(const ProbeReport::Host& host); // "node1: Debian 12, glibc 2.36, 64 cores, ..."

enum class LookFor {
    trouble, // what stands in the way of a run
    speeds, // and how fast cores, memory and network are
    cluster, // what the nodes are and what joins them; Slurm's partitions; speeds only where there is neither GPU nor
             // Slurm
};
// Connects to every host and looks at it and at the network between them. A host that cannot be reached is a finding
// (DNS, route, port, host key, authentication, shell, folder told apart), not a failure of the probe.
Expected<ProbeReport> probe_target(const Target& target, RunObserver& observer, std::stop_token stop, LookFor what,
    const std::filesystem::path& agent = {});

// What that would do, without doing it.
Expected<LaunchPreview> preview_probe(const Target& target, bool speed);

// The same for nodes that are connected already, without speeds: the preflight of a run. `ranks` of each node.
Expected<std::vector<Finding>> preflight(
    std::vector<Node>& nodes, const NodeNeeds& needs, Mailbox& mailbox, std::stop_token stop, double timeout_s);

} // namespace fourfold
