// SPDX-License-Identifier: GPL-3.0-or-later
// Brings a run's files to all its nodes: to each from here, or from node to node where that is quicker.
#pragma once

#include "runner/nodes/node.h"

#include <stop_token>
#include <string>

namespace fourfold {

struct StagePlan {
    bool reuse = true; // files that the nodes have elsewhere
    std::string upload = "auto"; // of the target
    bool reachable = false; // the nodes were seen to reach each other
    double reconnect_s = 300; // how long a node that a cut keeps away is tried again
};

// Fills `stock` and `staged` of every node. Nothing is lost when a chain breaks: the rest is sent from here. A cut does
// not end it: what has arrived stays, and the rest follows when the node is reached again.
Expected<void> stage_nodes(std::vector<Node>& nodes, const Bundle& bundle, const StagePlan& plan, Mailbox& mailbox,
    RunObserver& observer, const std::stop_token& stop);

} // namespace fourfold
