// SPDX-License-Identifier: GPL-3.0-or-later
// Nodes that were looked at, saved as a cluster that plans can name.
#pragma once

#include "runner/preflight/probe.h"

#include <filesystem>
#include <string>

namespace fourfold::view {

// Both are known before the second look, which measures the speeds and keeps the nodes busy for up to a minute.
struct ClusterWish {
    std::string id;
    std::string like; // cluster preset of the same kind of node; empty: nothing, the cores as measured
};
// "measured-node-1" of a node "node 1". Precondition: the report has a host.
std::string proposed_cluster_id(const ProbeReport& report);
// GPUs and the links between them cannot be measured from outside: a preset must be named.
bool needs_like(const ProbeReport& report);

} // namespace fourfold::view
