// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/system/server_process.h"

#include "core/base/standard_streams.h"
#include "runner/net/gate.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

namespace fourfold {

namespace {

constexpr double kReapSeconds = 1;

// The client's line, a run's lock and other connections must end with those they belong to, not with us.
void close_all_but(int kept)
{
    std::vector<int> open;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error))
        open.push_back(std::atoi(entry.path().filename().c_str()));
    for (const int fd : open) {
        if (fd != kept)
            close(fd);
    }
    open_standard_streams();
}

void dies_with(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
}

[[noreturn]] void let_in(FileDescriptor listener, const ServerProcess::Service& service)
{
    Gate gate(std::move(listener), service.token, service.purpose);
    const pid_t self = getpid();
    int peers = 0;
    const auto reap = [&](int options) {
        while (peers > 0 && waitpid(-1, nullptr, options) > 0) {
            --peers;
            options = WNOHANG;
        }
    };
    for (Deadline until = seconds_from_now(service.seconds); peers > 0 || milliseconds_until(until) > 0;) {
        reap(peers >= service.most_peers ? 0 : WNOHANG);
        const auto peer = gate.next(seconds_from_now(kReapSeconds));
        if (!peer)
            continue;
        until = seconds_from_now(service.seconds);
        const pid_t child = fork();
        if (child == 0) {
            dies_with(self);
            close_all_but(peer->get());
            set_blocking(peer->get(), true);
            service.serve(peer->get());
            _exit(0);
        }
        peers += child > 0 ? 1 : 0;
    }
    _exit(0);
}

} // namespace

Expected<ServerProcess> ServerProcess::start(const std::string& address, const Service& service)
{
    if (!is_token(service.token))
        return Problem{ProblemCode::bad_input,
            std::string("the token of ") + service.what + " must have 64 hexadecimal digits", {}, {}};
    FOURFOLD_TRY(Listener listener, listen_on(address));
    ServerProcess server;
    server.port_ = listener.port;
    const pid_t self = getpid();
    server.pid_ = fork();
    if (server.pid_ < 0)
        return Problem{
            ProblemCode::io, std::string("no process for ") + service.what + ": " + std::strerror(errno), {}, address};
    if (server.pid_ == 0) {
        dies_with(self);
        close_all_but(listener.socket.get());
        let_in(std::move(listener.socket), service);
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
