// SPDX-License-Identifier: GPL-3.0-or-later
// Files from node to node: what a node gets from the client, or from the node before it, it hands on to the next one
// while it arrives, compressed as it came. Nobody relies on it: what the next node has not got in the end, the client
// sends itself, and content counts by its SHA-256 alone.
#pragma once

#include "core/base/json.h"
#include "runner/agent/system/file_descriptor.h"
#include "runner/agent/system/server_process.h"
#include "runner/protocol/frame.h"

#include <functional>
#include <optional>
#include <string>

namespace fourfold {

// Where the next node takes files: a numeric address on the data plane, and a token that only the client gave it.
struct ChainLink {
    std::string address;
    int port = 0;
    std::string token;
};
// Nothing when the object names none.
std::optional<ChainLink> chain_link(const Json& json);

// The next node of the chain. After any trouble it is left alone for good.
class Downstream {
public:
    static Expected<Downstream> connect(const ChainLink& link, double timeout_s);

    // What the next node, or one after it, lacks of a file: from which byte on; nothing when they lack none of it.
    std::optional<uint64_t> begin(const std::string& sha256, uint64_t size);
    // The pieces that follow begin at this byte.
    void from(uint64_t offset);
    void piece(std::string_view compressed);
    void end();
    // Waits until the file is whole there, or until that did not work out.
    void finish();

private:
    explicit Downstream(FileDescriptor fd);
    void send(FrameKind kind, std::string_view payload);
    std::optional<Json> reply();

    FileDescriptor fd_; // closed after any trouble
    FrameParser parser_;
};

// Hands each connection that proves `token` on a free port of `address` to `serve`, in a process of its own.
Expected<ServerProcess> start_relay(
    const std::string& address, const std::string& token, const std::function<void(int fd)>& serve);

} // namespace fourfold
