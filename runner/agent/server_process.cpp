// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/server_process.h"

#include "core/base/standard_streams.h"
#include "runner/agent/network_probe.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace fourfold {

Expected<ServerProcess> ServerProcess::start(
    const std::string& address, int backlog, const char* what, const std::function<void(int listener)>& serve)
{
    FOURFOLD_TRY(auto socket, bound_socket(address));
    if (listen(socket.first.get(), backlog) != 0)
        return Problem{ProblemCode::network, std::string("cannot listen: ") + std::strerror(errno), {}, address};
    ServerProcess server;
    server.port_ = socket.second;
    server.pid_ = fork();
    if (server.pid_ < 0)
        return Problem{
            ProblemCode::io, std::string("no process for ") + what + ": " + std::strerror(errno), {}, address};
    if (server.pid_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        // The client's line must end with the session, not with us.
        for (const int fd : {0, 1, 2})
            close(fd);
        open_standard_streams();
        serve(socket.first.get());
        _exit(0);
    }
    return server;
}

ServerProcess::ServerProcess(ServerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, 0))
    , port_(other.port_)
{
}

ServerProcess::~ServerProcess()
{
    if (pid_ <= 0)
        return;
    kill(pid_, SIGKILL); // our own child, not yet reaped
    waitpid(pid_, nullptr, 0);
}

} // namespace fourfold
