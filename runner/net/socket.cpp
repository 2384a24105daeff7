// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/net/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace fourfold {

namespace {

int port_of(const sockaddr_storage& address)
{
    return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                               : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

// Until the descriptor is ready; false when the time is up.
bool wait_for(int fd, short events, Deadline deadline)
{
    for (;;) {
        pollfd waiting{fd, events, 0};
        const int ready = poll(&waiting, 1, milliseconds_until(deadline));
        if (ready > 0)
            return true;
        if (ready == 0 || errno != EINTR)
            return false;
    }
}

// Those of all nodes, of several or of none: a socket there would be reached over every network.
bool is_of_one_node(const sockaddr_storage& address)
{
    if (address.ss_family == AF_INET) {
        const in_addr_t host = ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr);
        return host != INADDR_ANY && host != INADDR_BROADCAST && !IN_MULTICAST(host);
    }
    const in6_addr& host = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    const bool mapped_any = IN6_IS_ADDR_V4MAPPED(&host) && host.s6_addr32[3] == 0;
    return !IN6_IS_ADDR_UNSPECIFIED(&host) && !IN6_IS_ADDR_MULTICAST(&host) && !mapped_any;
}

// Why this node alone fails to connect, whatever the other end does.
struct ReasonHere {
    int error;
    const char* why; // null: the kernel's words
    const char* cure; // null: none is known
};
constexpr ReasonHere kReasonsHere[] = {
    {EADDRNOTAVAIL, "no port of this node is free for a connection",
        "see net.ipv4.ip_local_port_range and, for who has them, ss -tan"},
    {ENETUNREACH, "this node has no way to that network",
        "see ip address and ip route: is the interface up, the loopback too?"},
    {EMFILE, nullptr, "raise the limit of open files"},
    {ENFILE, nullptr, "raise the limit of open files"},
    {EINVAL, "is not a numeric address", nullptr},
};

const ReasonHere* reason_here(int error)
{
    const auto* found = std::ranges::find(kReasonsHere, error, &ReasonHere::error);
    return found == std::end(kReasonsHere) ? nullptr : found;
}

bool again()
{
    return errno == EAGAIN || errno == EINTR;
}

} // namespace

Deadline seconds_from_now(double seconds)
{
    return std::chrono::steady_clock::now()
        + std::chrono::duration_cast<Deadline::duration>(std::chrono::duration<double>(seconds));
}

int milliseconds_until(Deadline deadline)
{
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 86400 * 1000));
}

socklen_t socket_address(const std::string& address, int port, sockaddr_storage& storage)
{
    storage = {};
    auto& v4 = reinterpret_cast<sockaddr_in&>(storage);
    if (inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1) {
        v4.sin_family = AF_INET;
        v4.sin_port = htons(static_cast<uint16_t>(port));
        return sizeof v4;
    }
    storage = {};
    auto& v6 = reinterpret_cast<sockaddr_in6&>(storage);
    if (inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) == 1) {
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(static_cast<uint16_t>(port));
        return sizeof v6;
    }
    return 0;
}

std::string address_text(const sockaddr* address)
{
    char text[INET6_ADDRSTRLEN] = {};
    if (address->sa_family == AF_INET)
        inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text, sizeof text);
    else if (address->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, text, sizeof text);
    return text;
}

Expected<Listener> listen_on(const std::string& address, int port)
{
    sockaddr_storage storage{};
    socklen_t length = socket_address(address, port, storage);
    if (length == 0)
        return Problem{ProblemCode::bad_input, "\"" + address + "\" is not a numeric address",
            "give the host a numeric node_address", {}};
    if (!is_of_one_node(storage))
        return Problem{
            ProblemCode::bad_input, address + " is no node's own address", "give the host its own node_address", {}};
    FileDescriptor socket(::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    if (port != 0) // connections of an earlier listener may still be closing
        setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (!socket.valid() || bind(socket.get(), reinterpret_cast<sockaddr*>(&storage), length) != 0
        || listen(socket.get(), SOMAXCONN) != 0) {
        const int error = errno;
        const std::string reason = std::string(" (") + std::strerror(error) + ")";
        if (error == EADDRINUSE && port == 0)
            return Problem{
                ProblemCode::network, why_not_connected(EADDRNOTAVAIL), cure_of_connection(EADDRNOTAVAIL), address};
        if (error == EADDRINUSE)
            return Problem{
                ProblemCode::network, "port " + std::to_string(port) + " of this node is taken" + reason, {}, address};
        return Problem{ProblemCode::network, "this node has no address " + address + reason,
            "give the host its own node_address", {}};
    }
    length = sizeof storage;
    getsockname(socket.get(), reinterpret_cast<sockaddr*>(&storage), &length);
    return Listener{std::move(socket), port_of(storage)};
}

bool is_listening(int fd, int port)
{
    int listens = 0;
    socklen_t length = sizeof listens;
    if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) != 0 || listens == 0)
        return false;
    sockaddr_storage own{};
    length = sizeof own;
    return getsockname(fd, reinterpret_cast<sockaddr*>(&own), &length) == 0 && port_of(own) == port;
}

FileDescriptor try_connect(const std::string& address, int port, Deadline deadline, int& error)
{
    sockaddr_storage to{};
    const socklen_t size = socket_address(address, port, to);
    FileDescriptor fd(size == 0 ? -1 : ::socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    error = size == 0 ? EINVAL : fd.valid() ? 0 : errno;
    if (error == 0 && connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), size) != 0)
        error = errno;
    if (error == EINPROGRESS) {
        socklen_t length = sizeof error;
        if (!wait_for(fd.get(), POLLOUT, deadline))
            error = ETIMEDOUT;
        else if (getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0)
            error = errno;
    }
    if (error != 0)
        return {};
    set_blocking(fd.get(), true);
    return fd;
}

bool lies_with_this_node(int error)
{
    return reason_here(error) != nullptr;
}

std::string why_not_connected(int error)
{
    const ReasonHere* reason = reason_here(error);
    return reason && reason->why ? reason->why : std::strerror(error);
}

std::string cure_of_connection(int error)
{
    const ReasonHere* reason = reason_here(error);
    return reason && reason->cure ? reason->cure : "";
}

Expected<FileDescriptor> connect_to(const std::string& address, int port, double timeout_s)
{
    int error = 0;
    FileDescriptor fd = try_connect(address, port, seconds_from_now(timeout_s), error);
    if (error != 0)
        return Problem{ProblemCode::network, why_not_connected(error), cure_of_connection(error),
            address + ":" + std::to_string(port)};
    return fd;
}

void set_no_delay(int fd)
{
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void set_blocking(int fd, bool blocking)
{
    const int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

bool read_fully(int fd, char* to, std::size_t size, Deadline deadline)
{
    while (size > 0) {
        if (!wait_for(fd, POLLIN, deadline))
            return false;
        const ssize_t got = recv(fd, to, size, MSG_DONTWAIT);
        if (got < 0 && again())
            continue;
        if (got <= 0)
            return false;
        to += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

bool send_fully(int fd, std::string_view bytes, Deadline deadline)
{
    while (!bytes.empty()) {
        if (!wait_for(fd, POLLOUT, deadline))
            return false;
        const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && again())
            continue;
        if (sent <= 0)
            return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

} // namespace fourfold
