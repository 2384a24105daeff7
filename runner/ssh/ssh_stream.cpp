// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/ssh/ssh_stream.h"

#include <libssh/server.h> // ssh_send_keepalive

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace fourfold {

namespace {
constexpr std::size_t kFirstErrors = 64u << 10, kLastErrors = 500;
constexpr std::chrono::milliseconds kPause{100};
constexpr std::chrono::seconds kStalled{20}; // a host that takes nothing for so long is given up
constexpr std::chrono::seconds kKeepalive{15}; // routers forget connections that nothing passes over
} // namespace

SshStream::SshStream(SshSession session, ssh_channel channel, std::string host, std::shared_ptr<void> route)
    : route_(std::move(route))
    , session_(std::move(session))
    , channel_(channel)
    , host_(std::move(host))
{
}

SshStream::~SshStream()
{
    // On a dead link nothing may be sent any more: it would wait for the network.
    if (broken_ || !ssh_is_connected(session_.get())) {
        shutdown(ssh_get_fd(session_.get()), SHUT_RDWR);
    } else {
        ssh_channel_send_eof(channel_);
        ssh_channel_close(channel_);
    }
    ssh_channel_free(channel_);
    if (!broken_)
        ssh_disconnect(session_.get());
}

void SshStream::drain_errors()
{
    std::array<char, 1024> block{};
    for (int i = 0; i < 64; ++i) {
        const int got = ssh_channel_read_nonblocking(channel_, block.data(), block.size(), 1);
        if (got <= 0)
            return;
        take_errors({block.data(), static_cast<std::size_t>(got)});
    }
}

void SshStream::take_errors(std::string_view bytes)
{
    errors_ += bytes;
    if (errors_.size() > kFirstErrors + 2 * kLastErrors)
        errors_.erase(kFirstErrors, errors_.size() - kFirstErrors - kLastErrors);
}

std::string_view SshStream::errors(std::chrono::milliseconds timeout)
{
    std::array<char, 1024> block{};
    const int got
        = ssh_channel_read_timeout(channel_, block.data(), block.size(), 1, static_cast<int>(timeout.count()));
    if (got > 0) {
        take_errors({block.data(), static_cast<std::size_t>(got)});
        drain_errors();
    }
    return errors_;
}

Problem SshStream::broken(const std::string& what)
{
    broken_ = true;
    drain_errors();
    std::string said = errors_.substr(errors_.size() - std::min(errors_.size(), kLastErrors));
    while (said.ends_with('\n'))
        said.pop_back();
    return {ProblemCode::network, what + (said.empty() ? "" : kHostSays + said), {}, host_};
}

Expected<std::string> SshStream::read_some(std::chrono::milliseconds timeout)
{
    std::array<char, 65536> block; // not filled first: it is read often
    const int got
        = ssh_channel_read_timeout(channel_, block.data(), block.size(), 0, static_cast<int>(timeout.count()));
    quiet_ = got > 0 ? std::chrono::milliseconds(0) : quiet_ + timeout;
    if (got > 0)
        return std::string(block.data(), static_cast<std::size_t>(got));
    if (got == SSH_ERROR)
        return broken("the connection broke: " + reason());
    if (ssh_channel_is_eof(channel_) || ssh_channel_is_closed(channel_))
        return broken(kCommandEnded);
    if (!ssh_is_connected(session_.get()))
        return broken("the connection broke");
    drain_errors();
    if (quiet_ > kKeepalive) {
        quiet_ = {};
        if (ssh_send_keepalive(session_.get()) != SSH_OK)
            return broken("the connection broke");
    }
    return std::string{};
}

std::string SshStream::reason() const
{
    const std::string said = ssh_get_error(session_.get());
    if (!said.empty())
        return said;
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(ssh_get_fd(session_.get()), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error != 0)
        return std::strerror(error);
    return ssh_channel_is_closed(channel_) || ssh_channel_is_eof(channel_) ? "the host closed the channel"
                                                                           : "the host closed the connection";
}

// Of a closed channel the same words whichever of reading and writing finds it out first. Without a connection libssh
// calls every channel closed.
Problem SshStream::unsent(bool is_closed)
{
    return broken(is_closed && ssh_is_connected(session_.get()) ? kCommandEnded : "sending failed: " + reason());
}

Expected<bool> SshStream::write_some(std::string_view& bytes)
{
    if (!bytes.empty()) {
        const auto part = static_cast<uint32_t>(std::min<std::size_t>(bytes.size(), 256u << 10));
        const int written = ssh_channel_write(channel_, bytes.data(), part);
        if (written < 0 && written != SSH_AGAIN)
            return unsent(true); // also while what the host said last is still to be read
        bytes_written_ += static_cast<uint64_t>(std::max(written, 0));
        bytes.remove_prefix(static_cast<std::size_t>(std::max(written, 0)));
        // No window: the host says when there is room again.
        pollfd waiting{ssh_get_fd(session_.get()), POLLIN, 0};
        if (written <= 0)
            poll(&waiting, 1, kPause.count());
    }
    const int flushed = ssh_blocking_flush(session_.get(), kPause.count());
    if (flushed == SSH_ERROR || !ssh_is_connected(session_.get()) || ssh_channel_is_closed(channel_))
        return unsent(ssh_channel_is_closed(channel_));
    return flushed == SSH_OK;
}

Expected<void> SshStream::write_all(std::string_view bytes)
{
    // libssh itself would wait for room without end.
    struct NonBlocking {
        explicit NonBlocking(ssh_session session)
            : session(session)
        {
            ssh_set_blocking(session, 0);
        }
        NonBlocking(const NonBlocking&) = delete;
        NonBlocking& operator=(const NonBlocking&) = delete;
        ~NonBlocking() { ssh_set_blocking(session, 1); }
        ssh_session session;
    } const mode(session_.get());
    auto moved = std::chrono::steady_clock::now();
    int queued = -1;
    for (bool flushed = false; !bytes.empty() || !flushed;) {
        const std::size_t before = bytes.size();
        FOURFOLD_TRY(flushed, write_some(bytes));
        // On a slow line what the kernel holds gets less all the time.
        int left = -1;
        ioctl(ssh_get_fd(session_.get()), SIOCOUTQ, &left);
        const auto now = std::chrono::steady_clock::now();
        if (bytes.size() != before || left != queued)
            moved = now;
        queued = left;
        if (now - moved > kStalled)
            return broken("sending failed: the host has taken nothing for " + std::to_string(kStalled.count()) + " s");
    }
    return {};
}

} // namespace fourfold
