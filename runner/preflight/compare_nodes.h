// SPDX-License-Identifier: GPL-3.0-or-later
// What only shows when the nodes are held against each other, or against what the trainer needs.
#pragma once

#include "runner/preflight/finding.h"
#include "runner/protocol/agent_client.h"

#include <optional>
#include <string>
#include <vector>

namespace fourfold {

struct ProbedNode {
    std::string name;
    NodeFacts facts;
    std::optional<AgentClient::ClockSkew> clock;
};

struct NodeNeeds {
    int ranks_per_node = 1;
    bool on_gpus = false;
    bool mixed_gpus = false; // allowed
    int glibc_minor = 0; // 2.x; 0 = not known, or the container's
    bool container = false;
};

// Mixed GPU models, drivers too old for CUDA 13, glibc too old, processors and clocks that differ.
std::vector<Finding> compare_nodes(const std::vector<ProbedNode>& nodes, const NodeNeeds& needs);

} // namespace fourfold
