// SPDX-License-Identifier: GPL-3.0-or-later
// A port of this node that a process of its own serves.
#pragma once

#include "core/base/expected.h"

#include <sys/types.h>

#include <functional>
#include <string>

namespace fourfold {

// The process ends with this object, and with this program however that ends.
class ServerProcess {
public:
    // Listens on a free port of a numeric address; `serve` gets the listening socket in the new process, without this
    // program's standard streams, and may not return. `what` names the purpose where there is no process.
    static Expected<ServerProcess> start(
        const std::string& address, int backlog, const char* what, const std::function<void(int listener)>& serve);
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
