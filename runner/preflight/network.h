// SPDX-License-Identifier: GPL-3.0-or-later
// Directed reachability of every pair of nodes on ports like those of the ranks, with latency, packet sizes and speed.
#pragma once

#include "runner/nodes/node.h"
#include "runner/preflight/finding.h"

#include <optional>
#include <string>
#include <vector>

namespace fourfold {

// From one node to another.
struct Link {
    int from = 0, to = 0; // node indexes
    std::string state; // "ok", "refused", "timeout", "no route", "failed"
    std::string error, interface, local_address;
    double latency_us = 0, bandwidth_gb_s = 0; // 0 = not measured
    int mtu = 0, largest_message = 0; // of the messages that came back
    int largest_asked = 1 << 20;
};

struct NetworkLook {
    std::vector<Link> links;
    std::vector<Finding> findings;
    // Medians over the links that work.
    std::optional<double> latency_us, bandwidth_gb_s;
};

// In N - 1 rounds every node probes one other node at a time (with more than `most_rounds` + 1 nodes only the nearest
// in their order, and everyone the first node).
enum class LookDepth {
    brief, // some small messages each: before every run
    whole,
    speed, // measure bandwidth too, one pair after the other
};
Expected<NetworkLook> look_at_network(std::vector<Node>& nodes, Mailbox& mailbox, std::stop_token stop, LookDepth depth,
    double timeout_s, int most_rounds = 16);

// What the links say (pure).
std::vector<Finding> judge_links(
    const std::vector<Link>& links, const std::vector<std::string>& names, const std::vector<std::string>& addresses);

} // namespace fourfold
