// SPDX-License-Identifier: GPL-3.0-or-later
// One host of a run, as the client sees it, and work that is done on all hosts at once.
#pragma once

#include "runner/bundle/stage.h"
#include "runner/nodes/mailbox.h"
#include "runner/nodes/run_observer.h"
#include "runner/protocol/agent_client.h"
#include "runner/protocol/transport.h"
#include "runner/target/target.h"

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace fourfold {

struct Node {
    int index = 0;
    std::string name; // as the user calls the host
    TargetHost host;
    std::string base_folder, interface; // as in the target
    std::vector<std::string> group_writable; // likewise
    std::vector<int> ranks; // of the whole job
    std::vector<int> rank_nodes; // Slurm: whose node's folder holds each of `ranks`; empty = this one's
    std::unique_ptr<Transport> transport;
    std::unique_ptr<AgentClient> agent; // none while not connected
    NodeFacts facts;
    Stock stock; // of the run's files
    Staged staged;
    Prepared prepared;
    bool started = false; // `start` was sent: ranks may run

    // Opens a session and says hello.
    Expected<void> connect(std::stop_token stop);
    // Numeric address for the ranks: the host's node_address, else that of the target's interface, else the one SSH
    // reached, else this computer's loopback.
    [[nodiscard]] std::string data_address() const;
    // Fails when the target names an interface that the node has not got.
    [[nodiscard]] Expected<void> check_interface() const;
};

std::vector<std::string> names_of(const std::vector<Node>& nodes);

// Tells each node which ranks it has: `ranks` one list per host, or a Slurm node.
void assign_ranks(std::vector<Node>& nodes, const Target& target, const std::vector<std::vector<RankPlace>>& ranks);

// Nodes of a target with their transports. Questions and notes go through `mailbox` to `observer`.
std::vector<Node> make_nodes(
    const Target& target, const std::filesystem::path& agent, Mailbox& mailbox, RunObserver& observer);

// Runs `work` on every node at once, each in its own thread, while this thread reads the mailbox. The first Problem
// stops the others and is returned. A stop request becomes `cancelled`.
Expected<void> on_all_nodes(std::vector<Node>& nodes, Mailbox& mailbox, std::stop_token stop,
    const std::function<Expected<void>(Node&, std::stop_token)>& work);

} // namespace fourfold
