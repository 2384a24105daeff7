// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/network_namespace.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace fourfold::testing {

namespace {
std::string enter()
{
    // Root may leave the network alone; others need a user namespace in which they are root.
    if (::unshare(CLONE_NEWNET) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        return std::string("unshare: ") + std::strerror(errno);
    const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
    ifreq request{};
    std::strcpy(request.ifr_name, "lo");
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    const bool up = socket >= 0 && ::ioctl(socket, SIOCSIFFLAGS, &request) == 0;
    const std::string reason = up ? "" : std::string("cannot bring up lo: ") + std::strerror(errno);
    ::close(socket);
    return reason;
}
} // namespace

const std::string& own_network()
{
    static const std::string reason = enter();
    return reason;
}

double loopback_bytes()
{
    std::ifstream file("/proc/self/net/dev");
    for (std::string line; std::getline(file, line);) {
        const auto colon = line.find(':');
        if (colon == std::string::npos || line.substr(0, colon).find("lo") == std::string::npos)
            continue;
        std::istringstream fields(line.substr(colon + 1));
        double value = 0;
        constexpr int kSentBytes = 9; // after eight counters of what was received
        for (int i = 0; i < kSentBytes; ++i)
            fields >> value;
        return value;
    }
    throw std::runtime_error("/proc/self/net/dev has no lo");
}

} // namespace fourfold::testing
