// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cluster/delay_line.h"

#include "tests/runner/sshd.h"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <deque>
#include <optional>
#include <vector>

namespace fourfold::test {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kHeader = 10; // of virtio before each frame
constexpr auto kAhead = std::chrono::milliseconds(1); // a sender may be ahead of the rate by so much

struct Frame {
    Clock::time_point due;
    std::vector<char> bytes;
};

// One direction: frames on their way to `to`.
struct Way {
    int from = -1, to = -1;
    Clock::time_point free{}; // when the line can take the next frame
    std::deque<Frame> frames;
};

int make_tap(const LineEnd& end)
{
    const int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (!end.netns.empty()) {
        const int there = open(("/run/netns/" + end.netns).c_str(), O_RDONLY | O_CLOEXEC);
        if (there < 0 || setns(there, CLONE_NEWNET) != 0)
            return -1;
        close(there);
    }
    const int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    ifreq request{};
    std::strcpy(request.ifr_name, "far0");
    request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
    const bool good = fd >= 0 && ioctl(fd, TUNSETIFF, &request) == 0
        && ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6) == 0
        && run_program({"ip", "addr", "add", end.address, "dev", "far0"}) == 0
        && run_program({"ip", "link", "set", "far0", "up", "txqueuelen", "1000"}) == 0;
    setns(home, CLONE_NEWNET);
    close(home);
    return good ? fd : -1;
}

[[noreturn]] void carry(std::array<Way, 2> ways, Clock::duration delay, double bytes_per_second)
{
    sched_param priority{};
    priority.sched_priority = 10;
    sched_setscheduler(0, SCHED_RR, &priority);
    prctl(PR_SET_TIMERSLACK, 1);
    std::vector<char> block(70000);
    for (;;) {
        auto now = Clock::now();
        auto next = now + std::chrono::seconds(1);
        std::array<pollfd, 2> waiting{};
        for (std::size_t i = 0; i < 2; ++i) {
            Way& way = ways[i];
            while (!way.frames.empty() && way.frames.front().due <= now) {
                (void)!write(way.to, way.frames.front().bytes.data(), way.frames.front().bytes.size());
                way.frames.pop_front();
            }
            if (!way.frames.empty())
                next = std::min(next, way.frames.front().due);
            const bool ahead = way.free > now + kAhead;
            if (ahead)
                next = std::min(next, way.free - kAhead / 2);
            waiting[i] = {ahead ? -1 : way.from, POLLIN, 0};
        }
        const auto wait = std::max<int64_t>(0, std::chrono::nanoseconds(next - now).count());
        const timespec limit{wait / 1000000000, wait % 1000000000};
        if (ppoll(waiting.data(), waiting.size(), &limit, nullptr) <= 0)
            continue;
        for (std::size_t i = 0; i < 2; ++i) {
            Way& way = ways[i];
            for (int burst = 0; burst < 8 && (waiting[i].revents & POLLIN) != 0; ++burst) {
                const ssize_t got = read(way.from, block.data(), block.size());
                if (got <= static_cast<ssize_t>(kHeader))
                    break;
                now = Clock::now();
                const std::chrono::duration<double> takes(
                    double(got - static_cast<ssize_t>(kHeader)) / bytes_per_second);
                way.free = std::max(now, way.free) + std::chrono::duration_cast<Clock::duration>(takes);
                way.frames.push_back({way.free + delay, {block.begin(), block.begin() + got}});
                if (way.free > now + kAhead)
                    break;
            }
        }
    }
}

} // namespace

DelayLine::DelayLine(const LineEnd& a, const LineEnd& b, double delay_ms, double megabits)
{
    const int first = make_tap(a), second = make_tap(b);
    if (first < 0 || second < 0)
        return;
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        std::array<Way, 2> ways;
        ways[0].from = ways[1].to = first;
        ways[0].to = ways[1].from = second;
        carry(std::move(ways),
            std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(delay_ms)),
            megabits * 1e6 / 8);
    }
    close(first);
    close(second);
}

DelayLine::~DelayLine()
{
    if (pid_ <= 0)
        return;
    kill(pid_, SIGKILL); // our child
    waitpid(pid_, nullptr, 0);
}

} // namespace fourfold::test
