// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/supervision/supervisor_door.h"

#include "core/base/sha256.h"
#include "runner/protocol/message.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

namespace fourfold {

namespace {

constexpr ssize_t kMostQuestionBytes = 1 << 20; // of a question; an `error` event with the last lines of a log
constexpr std::size_t kMostVisitors = 64;
constexpr double kBetweenLooks = 1;

// An abstract name: it belongs to no folder, and is gone with the process.
std::pair<sockaddr_un, socklen_t> door_of(const std::filesystem::path& run_folder)
{
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const std::string text = "fourfold/" + std::to_string(geteuid()) + "/" + sha256_hex(run_folder.string());
    static_assert(sizeof name.sun_path > 1 + 9 + 10 + 1 + 64);
    std::memcpy(name.sun_path + 1, text.data(), text.size());
    return {name, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size())};
}

// The process at the other end, as the kernel knows it; nothing when it is another user's.
std::optional<pid_t> trusted_peer(int fd)
{
    ucred peer{};
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || (peer.uid != geteuid() && peer.uid != 0))
        return {};
    return peer.pid;
}

// A whole message; nothing when none is there. `closed` when the other end is gone.
std::optional<Json> receive(int fd, bool& closed)
{
    ssize_t size = 0;
    do {
        size = recv(fd, nullptr, 0, MSG_DONTWAIT | MSG_PEEK | MSG_TRUNC); // of the whole message
    } while (size < 0 && errno == EINTR);
    closed = size == 0 || size > kMostQuestionBytes || (size < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
    if (size <= 0 || closed)
        return {};
    std::string text(static_cast<std::size_t>(size), '\0');
    closed = recv(fd, text.data(), text.size(), MSG_DONTWAIT) != size;
    const auto json = parse_json(text, "supervisor's door");
    return json ? *json : Json();
}

bool say(int fd, const Json& json)
{
    const std::string text = to_wire(json);
    return ::send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(text.size());
}

} // namespace

std::optional<SupervisorDoor> SupervisorDoor::open(const std::filesystem::path& run_folder)
{
    FileDescriptor fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const auto [name, size] = door_of(run_folder);
    if (!fd.valid() || bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), size) != 0
        || listen(fd.get(), SOMAXCONN) != 0)
        return {};
    return SupervisorDoor(std::move(fd));
}

void SupervisorDoor::add_to(std::vector<pollfd>& waiting) const
{
    waiting.push_back({listener_.get(), POLLIN, 0});
    for (const FileDescriptor& visitor : visitors_)
        waiting.push_back({visitor.get(), POLLIN, 0});
}

void SupervisorDoor::serve(const std::function<Json(const Json&)>& answer)
{
    for (;;) {
        FileDescriptor visitor(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!visitor.valid())
            break;
        if (!trusted_peer(visitor.get()))
            continue;
        if (visitors_.size() >= kMostVisitors)
            visitors_.erase(visitors_.begin()); // it comes again
        visitors_.push_back(std::move(visitor));
    }
    std::erase_if(visitors_, [&](FileDescriptor& visitor) {
        bool closed = false;
        const auto request = receive(visitor.get(), closed);
        return closed || (request && !say(visitor.get(), answer(*request)));
    });
}

bool SupervisorLine::connect()
{
    tried_ = monotonic_seconds();
    said_ = nullptr;
    unanswered_ = 0;
    FileDescriptor fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const auto [name, size] = door_of(run_folder_);
    if (!fd.valid() || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&name), size) != 0)
        return false;
    const auto peer = trusted_peer(fd.get());
    if (!peer)
        return false;
    supervisor_ = {*peer, start_time(*peer), boot_id()};
    // Its number was its own if the socket, which dies with it, still lives.
    pollfd open{fd.get(), POLLIN, 0};
    if (poll(&open, 1, 0) > 0 && (open.revents & (POLLHUP | POLLERR)) != 0)
        return false;
    fd_ = std::move(fd);
    return true;
}

bool SupervisorLine::send(const Json& request)
{
    if (!say(fd_.get(), request)) {
        if (errno != EAGAIN && errno != EWOULDBLOCK)
            fd_.close();
        return false;
    }
    if (unanswered_++ == 0)
        asked_ = monotonic_seconds();
    return true;
}

bool SupervisorLine::take()
{
    bool closed = false;
    auto answer = receive(fd_.get(), closed);
    if (closed) {
        fd_.close();
        return false;
    }
    if (!answer)
        return false;
    said_ = std::move(*answer);
    asked_ = monotonic_seconds();
    unanswered_ = std::max(0, unanswered_ - 1);
    return true;
}

void SupervisorLine::look()
{
    const double now = monotonic_seconds();
    if (!fd_.valid() && (now - tried_ < kBetweenLooks || !connect()))
        return;
    while (fd_.valid() && take()) { }
    if (fd_.valid() && unanswered_ == 0 && (said_.is_null() || now - asked_ >= kBetweenLooks))
        (void)send({{"do", "look"}});
}

void SupervisorLine::followed()
{
    if (fd_.valid() && unanswered_ == 0)
        (void)send({{"do", "followed"}});
}

void SupervisorLine::diagnose()
{
    if (fd_.valid() || connect())
        (void)send({{"do", "diagnose"}});
}

std::optional<Json> SupervisorLine::ask(const Json& request, std::chrono::milliseconds timeout)
{
    if (!fd_.valid() && !connect())
        return {};
    const double until = monotonic_seconds() + double(timeout.count()) * 1e-3;
    if (!send(request))
        return {};
    while (fd_.valid()) {
        while (fd_.valid() && take()) { } // what was asked before is answered first
        if (fd_.valid() && unanswered_ == 0)
            return said_;
        const double left = until - monotonic_seconds();
        if (left <= 0)
            break;
        pollfd waiting{fd_.get(), POLLIN, 0};
        poll(&waiting, 1, static_cast<int>(left * 1000) + 1);
    }
    return {};
}

double SupervisorLine::silence() const
{
    return fd_.valid() && unanswered_ > 0 ? monotonic_seconds() - asked_ : 0;
}

FileDescriptor SupervisorLine::open_events() const
{
    if (!fd_.valid() || integer_field(said_, "events", -1) < 0)
        return {};
    return FileDescriptor(::open(
        ("/proc/" + std::to_string(supervisor_.pid) + "/fd/" + std::to_string(integer_field(said_, "events"))).c_str(),
        O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

} // namespace fourfold
