// SPDX-License-Identifier: GPL-3.0-or-later
// How the client reaches the agent of one node: a way to open a session, and the two-way byte stream it gives.
#pragma once

#include "core/base/expected.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

namespace fourfold {

// Used by one thread at a time.
class ByteStream {
public:
    virtual ~ByteStream() = default;
    // Waits up to `timeout` for bytes; an empty string means that none came. A Problem (network) means that the stream
    // has ended or broken; it carries what the other side last said on its standard error.
    virtual Expected<std::string> read_some(std::chrono::milliseconds timeout) = 0;
    virtual Expected<void> write_all(std::string_view bytes) = 0;
    [[nodiscard]] uint64_t bytes_written() const { return bytes_written_; }

protected:
    uint64_t bytes_written_ = 0;
};

// What a host's shell printed of its own before it ran the command: its start-up files. None of it is used.
struct ShellNoise {
    struct Stream {
        std::string first; // its first bytes, at most kShown
        std::size_t bytes = 0; // all of it
    };
    Stream output, errors; // standard output and standard error
    static constexpr std::size_t kShown = 80;
};

class Transport {
public:
    virtual ~Transport() = default;
    // Starts `fourfold-agent session` on the node, bringing the agent there first where it is missing.
    // Fails with network (unreachable, cut), conflict (changed host key), refused (unknown host key,
    // authentication), io (no room, noexec) or cancelled.
    virtual Expected<std::unique_ptr<ByteStream>> open(std::stop_token stop) = 0;
    // Of the last open().
    [[nodiscard]] virtual ShellNoise noise() const { return {}; }
    // As in the target, for messages: "user@host:2222".
    [[nodiscard]] virtual std::string host() const = 0;
};

} // namespace fourfold
