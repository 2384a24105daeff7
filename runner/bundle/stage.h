// SPDX-License-Identifier: GPL-3.0-or-later
// Brings a bundle to one node: what it has already, in the store or among its own libraries, is not sent.
#pragma once

#include "runner/bundle/bundle.h"
#include "runner/protocol/agent_client.h"

#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace fourfold {

// What a node has of a bundle and what not.
struct Stock {
    std::map<std::string, std::string> places; // SHA-256 to a file of the node; empty = its store
    std::vector<std::string> missing; // SHA-256
    uint64_t missing_bytes = 0;
};

// `reuse`: files of the node under the same path, or with the same name among its libraries, count when their content
// is right.
Expected<Stock> take_stock(AgentClient& agent, const Bundle& bundle, bool reuse);
// Fails (io) when what is missing does not fit.
Expected<void> check_room(const Stock& stock, double disk_free_gib, const std::string& host);

struct Staged {
    std::vector<RunFile> files; // for the node's RunSpec
    uint64_t sent_bytes = 0; // of file content, before compression
    uint64_t reused_bytes = 0; // of files that the node had outside its store
};

// (bytes done, bytes in all, file name)
using StageProgress = std::function<void(uint64_t, uint64_t, const std::string&)>;

// Sends the missing files; with `chain` only those in it, which the node hands on.
struct SendOrder {
    PieceSource& pieces;
    bool chain = false;
};
// Returns the bytes of content that were sent.
Expected<uint64_t> send_files(AgentClient& agent, const Bundle& bundle, const std::vector<std::string>& hashes,
    const SendOrder& order, const std::stop_token& stop, const StageProgress& progress);

Expected<Staged> stage(AgentClient& agent, const Bundle& bundle, const Stock& stock, PieceSource& pieces,
    const std::stop_token& stop, const StageProgress& progress);

} // namespace fourfold
