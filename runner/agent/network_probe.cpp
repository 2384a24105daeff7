// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/network_probe.h"

#include "runner/agent/processes.h"
#include "runner/agent/token.h"
#include "runner/protocol/message.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace fourfold {

namespace {

constexpr std::size_t kTokenBytes = 32;
constexpr unsigned kServerSeconds = 600;
constexpr uint32_t kLargest = 64u << 20;
constexpr int kRounds = 40;
constexpr uint32_t kSpeedBytes = 8u << 20;
// Sizes at which a wrong MTU shows: below and above one packet of 1500 and of 9000 bytes.
constexpr std::array<uint32_t, 5> kLadder{64, 1400, 8900, 65536, 1u << 20};
constexpr std::size_t kBriefSteps = 3;
constexpr int kBriefRounds = 3;

// The request of one message: how many bytes follow, and how many shall come back.
struct Order {
    uint32_t bytes, back;
};

bool read_fully(int fd, char* to, std::size_t size, double deadline)
{
    while (size > 0) {
        pollfd waiting{fd, POLLIN, 0};
        const double left = deadline - monotonic_seconds();
        if (left <= 0 || poll(&waiting, 1, static_cast<int>(left * 1000) + 1) <= 0)
            return false;
        const ssize_t got = recv(fd, to, size, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (got <= 0)
            return false;
        to += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

bool send_fully(int fd, const char* from, std::size_t size, double deadline)
{
    while (size > 0) {
        pollfd waiting{fd, POLLOUT, 0};
        const double left = deadline - monotonic_seconds();
        if (left <= 0 || poll(&waiting, 1, static_cast<int>(left * 1000) + 1) <= 0)
            return false;
        const ssize_t sent = send(fd, from, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (sent <= 0)
            return false;
        from += sent;
        size -= static_cast<std::size_t>(sent);
    }
    return true;
}

void set_no_delay(int fd)
{
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void answer_one(int fd, const std::string& token)
{
    set_no_delay(fd);
    std::array<char, kTokenBytes> shown{};
    if (!read_fully(fd, shown.data(), shown.size(), monotonic_seconds() + 5)
        || !same_token({shown.data(), shown.size()}, token))
        return;
    std::vector<char> block(1u << 20);
    for (;;) {
        Order order{};
        if (!read_fully(fd, reinterpret_cast<char*>(&order), sizeof order, monotonic_seconds() + 60)
            || order.bytes > kLargest || order.back > kLargest)
            return;
        const double deadline = monotonic_seconds() + 60;
        for (std::size_t left = order.bytes; left > 0;) {
            const std::size_t part = std::min(left, block.size());
            if (!read_fully(fd, block.data(), part, deadline))
                return;
            left -= part;
        }
        for (std::size_t left = order.back; left > 0;) {
            const std::size_t part = std::min(left, block.size());
            if (!send_fully(fd, block.data(), part, deadline))
                return;
            left -= part;
        }
    }
}

socklen_t numeric(const std::string& address, int port, sockaddr_storage& storage)
{
    auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
    if (inet_pton(AF_INET, address.c_str(), &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(static_cast<uint16_t>(port));
        return sizeof *v4;
    }
    if (inet_pton(AF_INET6, address.c_str(), &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(static_cast<uint16_t>(port));
        return sizeof *v6;
    }
    return 0;
}

std::string text_of(const sockaddr* address)
{
    char text[INET6_ADDRSTRLEN] = {};
    if (address->sa_family == AF_INET)
        inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text, sizeof text);
    else if (address->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, text, sizeof text);
    return text;
}

// Sends `bytes` and waits for `back`; seconds, or -1.
double exchange(int fd, const Order& order, std::vector<char>& block, double timeout_s)
{
    block.resize(std::max<std::size_t>(block.size(), std::max(order.bytes, order.back)));
    const double begin = monotonic_seconds(), deadline = begin + timeout_s;
    const bool good = send_fully(fd, reinterpret_cast<const char*>(&order), sizeof order, deadline)
        && send_fully(fd, block.data(), order.bytes, deadline) && read_fully(fd, block.data(), order.back, deadline);
    return good ? monotonic_seconds() - begin : -1;
}

// 0 or the errno of the attempt.
int connect_within(int fd, const sockaddr_storage& to, socklen_t size, double timeout_s)
{
    if (connect(fd, reinterpret_cast<const sockaddr*>(&to), size) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return errno;
    pollfd waiting{fd, POLLOUT, 0};
    if (poll(&waiting, 1, static_cast<int>(timeout_s * 1000)) <= 0)
        return ETIMEDOUT;
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
    return error;
}

void measure(int fd, const ProbeOrder& order, Json& out)
{
    std::vector<char> block(kSpeedBytes, 'p');
    std::vector<double> rounds;
    for (int i = 0; i < (order.brief ? kBriefRounds : kRounds); ++i) {
        const double seconds = exchange(fd, {64, 64}, block, order.timeout_s);
        if (seconds < 0)
            break;
        rounds.push_back(seconds);
    }
    if (!rounds.empty()) {
        std::nth_element(rounds.begin(), rounds.begin() + static_cast<std::ptrdiff_t>(rounds.size() / 2), rounds.end());
        out["latency_us"] = rounds[rounds.size() / 2] / 2 * 1e6;
    }
    uint32_t largest = 0;
    const std::size_t steps = order.brief ? kBriefSteps : kLadder.size();
    out["largest_asked"] = kLadder[steps - 1];
    for (std::size_t step = 0; step < steps; ++step) {
        const uint32_t size = kLadder[step];
        if (exchange(fd, {size, size}, block, order.timeout_s) < 0)
            break;
        largest = size;
    }
    out["largest_message"] = largest;
    if (order.speed && largest == kLadder.back()) {
        double best = -1;
        for (int i = 0; i < 4; ++i) {
            const double seconds = exchange(fd, {kSpeedBytes, 1}, block, 30);
            if (seconds > 0 && (best < 0 || seconds < best))
                best = seconds;
        }
        // The answer's way back is no part of the transfer.
        const double back = rounds.empty() ? 0 : rounds[rounds.size() / 2] / 2;
        if (best > back)
            out["bandwidth_gb_s"] = double(kSpeedBytes) / (best - back) / 1e9;
    }
}

} // namespace

std::string interface_of(const std::string& address)
{
    ifaddrs* list = nullptr;
    if (address.empty() || getifaddrs(&list) != 0)
        return {};
    std::string found;
    for (const ifaddrs* item = list; item && found.empty(); item = item->ifa_next) {
        if (item->ifa_addr && text_of(item->ifa_addr) == address)
            found = item->ifa_name;
    }
    freeifaddrs(list);
    return found;
}

Json network_interfaces()
{
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0)
        return Json::array();
    Json out = Json::array();
    for (const int family : {AF_INET, AF_INET6}) {
        for (const ifaddrs* item = list; item; item = item->ifa_next) {
            if (!item->ifa_addr || item->ifa_addr->sa_family != family || (item->ifa_flags & IFF_UP) == 0)
                continue;
            const std::string address = text_of(item->ifa_addr);
            const bool known = std::any_of(
                out.begin(), out.end(), [&](const Json& one) { return text_field(one, "name") == item->ifa_name; });
            // A link-local address means nothing without its interface.
            if (!known && !address.empty() && !address.starts_with("fe80:"))
                out.push_back({{"name", item->ifa_name}, {"address", address}});
        }
    }
    freeifaddrs(list);
    return out;
}

Expected<std::pair<FileDescriptor, int>> bound_socket(const std::string& address)
{
    sockaddr_storage storage{};
    socklen_t length = numeric(address, 0, storage);
    if (length == 0)
        return Problem{ProblemCode::bad_input, "\"" + address + "\" is not a numeric address",
            "give the host a numeric node_address", {}};
    FileDescriptor socket(::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (!socket.valid() || bind(socket.get(), reinterpret_cast<sockaddr*>(&storage), length) != 0)
        return Problem{ProblemCode::network, "this node has no address " + address + " (" + std::strerror(errno) + ")",
            "give the host its own node_address", {}};
    length = sizeof storage;
    getsockname(socket.get(), reinterpret_cast<sockaddr*>(&storage), &length);
    const int port = ntohs(storage.ss_family == AF_INET ? reinterpret_cast<sockaddr_in*>(&storage)->sin_port
                                                        : reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port);
    return std::pair(std::move(socket), port);
}

Expected<FileDescriptor> connect_to(const std::string& address, int port, double timeout_s)
{
    sockaddr_storage to{};
    const socklen_t size = numeric(address, port, to);
    if (size == 0)
        return Problem{ProblemCode::bad_input, "is not a numeric address", {}, address};
    FileDescriptor fd(::socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int error = fd.valid() ? connect_within(fd.get(), to, size, timeout_s) : errno;
    if (error != 0)
        return Problem{ProblemCode::network, std::strerror(error), {}, address + ":" + std::to_string(port)};
    fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
    return fd;
}

Expected<ServerProcess> start_probe_server(const std::string& address, const std::string& token)
{
    if (token.size() != kTokenBytes)
        return Problem{ProblemCode::bad_input, "the probe's token must have 32 characters", {}, {}};
    return ServerProcess::start(address, 64, "the probe", [&](int listener) {
        signal(SIGCHLD, SIG_IGN);
        alarm(kServerSeconds);
        for (;;) {
            const int peer = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
            if (peer < 0) {
                if (errno == EINTR || errno == ECONNABORTED)
                    continue;
                _exit(1);
            }
            if (fork() == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                alarm(kServerSeconds);
                answer_one(peer, token);
                _exit(0);
            }
            close(peer);
        }
    });
}

Json probe_peer(const ProbeOrder& order)
{
    Json out = {{"state", "failed"}, {"error", ""}};
    sockaddr_storage to{};
    const socklen_t size = numeric(order.address, order.port, to);
    if (size == 0) {
        out["error"] = "not a numeric address";
        return out;
    }
    const FileDescriptor fd(::socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int error = fd.valid() ? connect_within(fd.get(), to, size, order.timeout_s) : errno;
    if (error != 0) {
        out["state"] = error == ECONNREFUSED                                                     ? "refused"
            : error == ETIMEDOUT                                                                 ? "timeout"
            : error == EHOSTUNREACH || error == ENETUNREACH || error == EACCES || error == EPERM ? "no route"
                                                                                                 : "failed";
        out["error"] = std::strerror(error);
        return out;
    }
    set_no_delay(fd.get());
    sockaddr_storage own{};
    socklen_t length = sizeof own;
    getsockname(fd.get(), reinterpret_cast<sockaddr*>(&own), &length);
    const std::string local = text_of(reinterpret_cast<sockaddr*>(&own));
    out["local_address"] = local;
    out["interface"] = interface_of(local);
    int mtu = 0;
    length = sizeof mtu;
    if (getsockopt(fd.get(), to.ss_family == AF_INET ? static_cast<int>(IPPROTO_IP) : static_cast<int>(IPPROTO_IPV6),
            to.ss_family == AF_INET ? IP_MTU : IPV6_MTU, &mtu, &length)
        == 0)
        out["mtu"] = mtu;
    if (!send_fully(fd.get(), order.token.data(), order.token.size(), monotonic_seconds() + order.timeout_s)) {
        out["error"] = "the connection broke at once";
        return out;
    }
    measure(fd.get(), order, out);
    if (!out.contains("latency_us"))
        out["error"] = "connected, but nothing came back";
    else
        out["state"] = "ok";
    return out;
}

} // namespace fourfold
