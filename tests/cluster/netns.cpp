// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cluster/netns.h"

#include "tests/runner/sshd.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

namespace fourfold::test {

namespace {
constexpr const char* kNet = "10.231.77.";

bool ip(std::vector<std::string> words)
{
    words.insert(words.begin(), "ip");
    return run_program(words) == 0;
}
} // namespace

std::string why_no_namespaces()
{
    if (geteuid() != 0)
        return "network namespaces need root";
    const std::string name = "ff" + std::to_string(getpid()) + "try";
    if (!ip({"netns", "add", name}))
        return "needs the right to make network namespaces (ip netns add)";
    // Entering one needs more: `ip -n` changes the mount of "/", which a plain chroot does not have.
    const bool entered = ip({"-n", name, "link", "set", "lo", "up"});
    ip({"netns", "del", name});
    return entered ? "" : "needs the right to enter network namespaces (ip -n; is / a mount point?)";
}

Namespaces::Namespaces(int nodes)
    : prefix_("ff" + std::to_string(getpid()))
    , nodes_(nodes)
    , home_(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC))
{
    const std::string client = prefix_ + "c";
    const auto need = [this](std::vector<std::string> words) { good_ = ip(std::move(words)) && good_; };
    need({"netns", "add", client});
    need({"-n", client, "link", "set", "lo", "up"});
    need({"-n", client, "link", "add", "br0", "type", "bridge"});
    need({"-n", client, "link", "set", "br0", "up"});
    need({"-n", client, "addr", "add", std::string(kNet) + "100/24", "dev", "br0"});
    for (int i = 1; i <= nodes; ++i) {
        const std::string port = "p" + std::to_string(i);
        need({"netns", "add", node(i)});
        need({"-n", node(i), "link", "set", "lo", "up"});
        need({"-n", client, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", node(i)});
        need({"-n", client, "link", "set", port, "master", "br0", "up"});
        need({"-n", node(i), "addr", "add", address(i) + "/24", "dev", "eth0"});
        need({"-n", node(i), "link", "set", "eth0", "up"});
    }
    const int fd = open(("/run/netns/" + client).c_str(), O_RDONLY | O_CLOEXEC);
    good_ = good_ && fd >= 0 && setns(fd, CLONE_NEWNET) == 0;
    if (fd >= 0)
        close(fd);
}

Namespaces::~Namespaces()
{
    if (home_ >= 0) {
        setns(home_, CLONE_NEWNET);
        close(home_);
    }
    for (int i = 1; i <= nodes_; ++i)
        ip({"netns", "del", node(i)});
    ip({"netns", "del", prefix_ + "c"});
}

std::string Namespaces::node(int index) const
{
    return prefix_ + "n" + std::to_string(index);
}

std::string Namespaces::address(int index) const
{
    return kNet + std::to_string(index);
}

void Namespaces::cut(int index)
{
    ip({"-n", prefix_ + "c", "link", "set", "p" + std::to_string(index), "down"});
}

bool Namespaces::shape(int index, double megabits)
{
    const auto limit = [&](const std::string& space, const std::string& device) {
        (void)run_program({"tc", "-n", space, "qdisc", "del", "dev", device, "root"});
        const std::string rate = std::to_string(static_cast<long long>(megabits * 1e6)) + "bit";
        // A bucket of 2 ms, at least two segments of 64 KiB; a queue of 50 ms.
        const auto burst
            = std::to_string(std::max<long long>(131072, static_cast<long long>(megabits * 1e6 / 8 * 0.002)));
        return megabits <= 0
            || run_program({"tc", "-n", space, "qdisc", "add", "dev", device, "root", "tbf", "rate", rate, "burst",
                   burst, "latency", "50ms"})
            == 0;
    };
    if (index == 0)
        return limit(prefix_ + "c", "br0");
    return limit(prefix_ + "c", "p" + std::to_string(index)) && limit(node(index), "eth0");
}

bool Namespaces::move_client(int last)
{
    const std::string client = prefix_ + "c";
    return ip({"-n", client, "addr", "flush", "dev", "br0"})
        && ip({"-n", client, "addr", "add", kNet + std::to_string(last) + "/24", "dev", "br0"});
}

bool Namespaces::set_mtu(int index, int on_node, int on_switch)
{
    return ip({"-n", node(index), "link", "set", "eth0", "mtu", std::to_string(on_node)})
        && ip({"-n", prefix_ + "c", "link", "set", "p" + std::to_string(index), "mtu", std::to_string(on_switch)});
}

uint64_t Namespaces::bytes_to(int index) const
{
    std::ifstream in("/proc/thread-self/net/dev");
    const std::string port = index == 0 ? "br0:" : "p" + std::to_string(index) + ":";
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string name;
        words >> name;
        if (name != port)
            continue;
        std::array<uint64_t, 9> fields{}; // eight of what was received, then the bytes sent
        for (uint64_t& field : fields)
            words >> field;
        return fields[8];
    }
    return 0;
}

void Namespaces::heal(int index)
{
    ip({"-n", prefix_ + "c", "link", "set", "p" + std::to_string(index), "up"});
}

} // namespace fourfold::test
