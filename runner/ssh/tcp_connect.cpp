// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/ssh/tcp_connect.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>

namespace fourfold {

namespace {
Problem unreachable(const std::string& where, std::string message, std::string hint)
{
    return {ProblemCode::network, std::move(message), std::move(hint), where};
}

void set_option(int fd, int level, int option, int value)
{
    setsockopt(fd, level, option, &value, sizeof value);
}

void tune(int fd)
{
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 5);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 2);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
    set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 10000); // milliseconds that sent data may stay unacknowledged
}

std::string numeric(const addrinfo& address)
{
    char text[NI_MAXHOST] = {};
    return getnameinfo(address.ai_addr, address.ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0
        ? text
        : "(an unknown address)";
}

// 0, or the errno of the connection; ETIMEDOUT after the deadline, ECANCELED on a stop.
int connect_one(
    int fd, const addrinfo& address, std::chrono::steady_clock::time_point deadline, const std::stop_token& stop)
{
    if (connect(fd, address.ai_addr, address.ai_addrlen) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return errno;
    for (;;) {
        if (stop.stop_requested())
            return ECANCELED;
        if (std::chrono::steady_clock::now() > deadline)
            return ETIMEDOUT;
        pollfd waiting{fd, POLLOUT, 0};
        if (poll(&waiting, 1, 50) <= 0)
            continue;
        int error = 0;
        socklen_t size = sizeof error;
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
        return error;
    }
}
} // namespace

Expected<int> tcp_connect(const std::string& host, int port, double timeout_s, std::stop_token stop)
{
    const std::string where = host + ":" + std::to_string(port);
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    if (const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list); error != 0)
        return unreachable(where, "the name cannot be resolved: " + host + ", " + gai_strerror(error),
            "check the spelling and your name server, or use an address");
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(list, freeaddrinfo);
    const auto deadline = std::chrono::steady_clock::now()
        + std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(timeout_s));
    int error = EADDRNOTAVAIL;
    std::string tried = "no address"; // the last one
    for (const addrinfo* address = list; address; address = address->ai_next) {
        const int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0) {
            error = errno;
            continue;
        }
        tried = numeric(*address) + " port " + std::to_string(port);
        error = connect_one(fd, *address, deadline, stop);
        if (error == 0) {
            tune(fd);
            return fd;
        }
        ::close(fd);
        if (error == ECANCELED)
            return Problem{ProblemCode::cancelled, "stopped while connecting", {}, where};
    }
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g s", timeout_s);
    switch (error) {
    case ECONNREFUSED:
        return unreachable(where, "the connection was refused: no SSH server listens on " + tried,
            "check the port and that sshd runs there");
    case ETIMEDOUT:
        return unreachable(where, std::string("no answer within ") + seconds + ": " + tried,
            "check that the host is up and that no firewall drops the port");
    case EHOSTUNREACH:
    case ENETUNREACH:
        return unreachable(where, std::string("no route to the host: ") + std::strerror(error) + ", " + tried,
            "check the address, the network and a VPN that it may need");
    default:
        return unreachable(where, std::string("the connection failed: ") + std::strerror(error) + ", " + tried,
            "check the address and the network");
    }
}

} // namespace fourfold
