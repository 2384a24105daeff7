// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/node/network_probe.h"

#include "runner/agent/system/processes.h"
#include "runner/net/proof.h"
#include "runner/protocol/message.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace fourfold {

namespace {

constexpr unsigned kServerSeconds = 600;
constexpr int kMostPeers = 64;
constexpr double kMostSeconds = 60; // for a message, and between two
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

void answer_one(int fd)
{
    set_no_delay(fd);
    std::vector<char> block(1u << 20);
    for (;;) {
        Order order{};
        if (!read_fully(fd, reinterpret_cast<char*>(&order), sizeof order, seconds_from_now(kMostSeconds))
            || order.bytes > kLargest || order.back > kLargest)
            return;
        const Deadline deadline = seconds_from_now(kMostSeconds);
        for (std::size_t left = order.bytes; left > 0;) {
            const std::size_t part = std::min(left, block.size());
            if (!read_fully(fd, block.data(), part, deadline))
                return;
            left -= part;
        }
        for (std::size_t left = order.back; left > 0;) {
            const std::size_t part = std::min(left, block.size());
            if (!send_fully(fd, {block.data(), part}, deadline))
                return;
            left -= part;
        }
    }
}

// Sends `bytes` and waits for `back`; seconds, or -1.
double exchange(int fd, const Order& order, std::vector<char>& block, double timeout_s)
{
    block.resize(std::max<std::size_t>(block.size(), std::max(order.bytes, order.back)));
    const double begin = monotonic_seconds();
    const Deadline deadline = seconds_from_now(timeout_s);
    const bool good = send_fully(fd, {reinterpret_cast<const char*>(&order), sizeof order}, deadline)
        && send_fully(fd, {block.data(), order.bytes}, deadline) && read_fully(fd, block.data(), order.back, deadline);
    return good ? monotonic_seconds() - begin : -1;
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
        if (item->ifa_addr && address_text(item->ifa_addr) == address)
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
            const std::string address = address_text(item->ifa_addr);
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

Expected<ServerProcess> start_probe_server(const std::string& address, const std::string& token)
{
    return ServerProcess::start(address, {"the probe", kForProbe, token, kMostPeers, kServerSeconds, answer_one});
}

Json probe_peer(const ProbeOrder& order)
{
    Json out = {{"state", "failed"}, {"error", ""}};
    sockaddr_storage own{};
    if (socket_address(order.address, order.port, own) == 0) {
        out["error"] = "not a numeric address";
        return out;
    }
    int error = 0;
    const FileDescriptor fd = try_connect(order.address, order.port, seconds_from_now(order.timeout_s), error);
    if (error != 0) {
        out["state"] = error == ECONNREFUSED                                                     ? "refused"
            : error == ETIMEDOUT                                                                 ? "timeout"
            : error == EHOSTUNREACH || error == ENETUNREACH || error == EACCES || error == EPERM ? "no route"
                                                                                                 : "failed";
        out["error"] = std::strerror(error);
        return out;
    }
    set_no_delay(fd.get());
    socklen_t length = sizeof own;
    getsockname(fd.get(), reinterpret_cast<sockaddr*>(&own), &length);
    const std::string local = address_text(reinterpret_cast<sockaddr*>(&own));
    out["local_address"] = local;
    out["interface"] = interface_of(local);
    int mtu = 0;
    length = sizeof mtu;
    if (getsockopt(fd.get(), own.ss_family == AF_INET ? static_cast<int>(IPPROTO_IP) : static_cast<int>(IPPROTO_IPV6),
            own.ss_family == AF_INET ? IP_MTU : IPV6_MTU, &mtu, &length)
        == 0)
        out["mtu"] = mtu;
    if (const auto proved = prove(fd.get(), order.token, kForProbe, seconds_from_now(order.timeout_s)); !proved) {
        out["error"] = proved.error().message;
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
