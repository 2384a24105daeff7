// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/ssh/ssh_forward.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace fourfold {

Expected<std::shared_ptr<SshForward>> SshForward::open(
    SshSession session, const std::string& host, int port, const std::string& jump_name, std::shared_ptr<void> keep)
{
    ssh_channel channel = ssh_channel_new(session.get());
    if (!channel || ssh_channel_open_forward(channel, host.c_str(), port, "localhost", 0) != SSH_OK) {
        Problem problem{ProblemCode::network,
            "the jump host does not reach " + host + " port " + std::to_string(port) + ": "
                + ssh_get_error(session.get()),
            "check the address as the jump host sees it, and AllowTcpForwarding of its sshd", jump_name};
        if (channel)
            ssh_channel_free(channel);
        return problem;
    }
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        ssh_channel_free(channel);
        return Problem{ProblemCode::io, std::string("no socket pair: ") + std::strerror(errno), {}, jump_name};
    }
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    return std::shared_ptr<SshForward>(new SshForward(std::move(session), channel, ends[0], ends[1], std::move(keep)));
}

SshForward::SshForward(SshSession session, ssh_channel channel, int inner, int outer, std::shared_ptr<void> keep)
    : keep_(std::move(keep))
    , session_(std::move(session))
    , channel_(channel)
    , inner_(inner)
    , outer_(outer)
    , thread_([this](const std::stop_token& stop) { pump(stop); })
{
}

SshForward::~SshForward()
{
    thread_.request_stop();
    shutdown(outer_, SHUT_RDWR); // wakes the pump
    thread_.join();
    close(outer_);
    if (inner_ >= 0)
        close(inner_);
    ssh_channel_free(channel_);
}

int SshForward::take_socket()
{
    return std::exchange(inner_, -1);
}

void SshForward::pump(const std::stop_token& stop)
{
    std::vector<char> block(64u << 10);
    std::string to_inner;
    bool open = true;
    while (open && !stop.stop_requested()) {
        bool moved = false;
        // From the network, as long as the inner session takes it.
        if (to_inner.size() < block.size()) {
            const int got
                = ssh_channel_read_nonblocking(channel_, block.data(), static_cast<uint32_t>(block.size()), 0);
            if (got > 0) {
                to_inner.append(block.data(), static_cast<std::size_t>(got));
                moved = true;
            } else if (got == SSH_ERROR || ssh_channel_is_eof(channel_) || !ssh_is_connected(session_.get())) {
                open = false;
            }
        }
        if (!to_inner.empty()) {
            const ssize_t written = send(outer_, to_inner.data(), to_inner.size(), MSG_NOSIGNAL);
            if (written > 0) {
                to_inner.erase(0, static_cast<std::size_t>(written));
                moved = true;
            } else if (errno != EAGAIN && errno != EINTR) {
                open = false;
            }
        }
        // To the network, within the window, so that the write never blocks.
        const uint32_t window = ssh_channel_window_size(channel_);
        if (open && window > 0) {
            const ssize_t got = recv(outer_, block.data(), std::min<std::size_t>(block.size(), window), 0);
            if (got > 0) {
                if (ssh_channel_write(channel_, block.data(), static_cast<uint32_t>(got)) != got)
                    open = false;
                moved = true;
            } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
                open = false;
            }
        }
        if (open && !moved) {
            pollfd waiting[2]
                = {{outer_, static_cast<short>((window > 0 ? POLLIN : 0) | (to_inner.empty() ? 0 : POLLOUT)), 0},
                    {ssh_get_fd(session_.get()), POLLIN, 0}};
            poll(waiting, 2, 100);
        }
    }
    // The inner session sees the end of its line; what arrived before can still be read.
    shutdown(outer_, SHUT_RDWR);
    shutdown(ssh_get_fd(session_.get()), SHUT_RDWR);
}

} // namespace fourfold
