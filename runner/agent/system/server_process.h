// SPDX-License-Identifier: GPL-3.0-or-later
// A port of this node that a process of its own serves, for those who prove a token.
#pragma once

#include "core/base/expected.h"

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>

namespace fourfold {

// The process ends with this object, and with this program however that ends.
class ServerProcess {
public:
    struct Service {
        const char* what; // "the probe", where there is no process
        std::string_view purpose; // runner/net/proof.h
        std::string token;
        int most_peers; // served at the same time, each in a process of its own; further ones wait for their turn
        unsigned seconds; // without anybody to serve, until it closes
        std::function<void(int fd)> serve; // a blocking socket; without this program's other descriptors
    };
    // Listens on a free port of a numeric address.
    static Expected<ServerProcess> start(const std::string& address, const Service& service);
    ServerProcess(ServerProcess&& other) noexcept;
    ServerProcess& operator=(ServerProcess&&) = delete;
    ~ServerProcess();
    [[nodiscard]] int port() const { return port_; }

private:
    ServerProcess() = default;
    pid_t pid_ = 0;
    int port_ = 0;
};

} // namespace fourfold
