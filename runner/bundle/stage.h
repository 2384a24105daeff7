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
Expected<Stock> take_stock(AgentClient& agent, const Bundle& bundle, bool reuse, const std::stop_token& stop = {});
// Fails (io) when what is missing does not fit.
Expected<void> check_room(const Stock& stock, double disk_free_gib, const std::string& host);

struct Staged {
    std::vector<RunFile> files; // for the node's RunSpec
    uint64_t sent_bytes = 0; // of file content, before compression
    uint64_t reused_bytes = 0; // of files that the node had outside its store
};

struct StageReports {
    std::function<void(uint64_t done, uint64_t total, const std::string& file)> progress; // in bytes
    std::function<void(const std::string&)> note; // what it waits for
    std::function<void()> advanced; // something was sent
};
struct SendOrder {
    PieceSource& pieces; // shared between nodes
    bool chain = false; // the node hands the files on
};
// Sends files to a node; adds the bytes of content that it sent to `sent`, also where it fails. A file that another
// session is sending is waited for as long as that one sends.
Expected<void> send_files(AgentClient& agent, const Bundle& bundle, const std::vector<std::string>& hashes,
    const SendOrder& order, const std::stop_token& stop, const StageReports& reports, uint64_t& sent);

// Sends what is missing; the files as they are then, added to `staged`.
Expected<void> stage(AgentClient& agent, const Bundle& bundle, const Stock& stock, PieceSource& pieces,
    const std::stop_token& stop, const StageReports& reports, Staged& staged);

} // namespace fourfold
