// SPDX-License-Identifier: GPL-3.0-or-later
// Brings a run's files to all its nodes: to each from here, or from node to node where that is quicker.
#pragma once

#include "runner/runs/node.h"

#include <stop_token>
#include <string>

namespace fourfold {

struct StagePlan {
    bool reuse = true; // files that the nodes have elsewhere
    std::string upload = "auto"; // of the target
    bool reachable = false; // the nodes were seen to reach each other
};

// Fills `stock` and `staged` of every node. Nothing is lost when a chain breaks: the rest is sent from here.
Expected<void> stage_nodes(std::vector<Node>& nodes, const Bundle& bundle, const StagePlan& plan, Mailbox& mailbox,
    RunObserver& observer, const std::stop_token& stop);

} // namespace fourfold
