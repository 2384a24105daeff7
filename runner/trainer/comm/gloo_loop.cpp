// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/comm/gloo_loop.h"

#include <sched.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>

namespace fourfold::trainer {

namespace {
std::atomic<uint64_t> given_up = 0;
} // namespace

uint64_t given_up_cores()
{
    return given_up;
}

} // namespace fourfold::trainer

#if !defined(__SANITIZE_THREAD__) // which has its own
// Before that of the C library for all that the program loads.
extern "C" int epoll_wait(int epoll, epoll_event* events, int most, int timeout_ms)
{
    using Clock = std::chrono::steady_clock;
    constexpr auto kAtOnce = std::chrono::microseconds(5); // from call to call: no time for a wait or a message
    constexpr int kInARow = 3;
    thread_local Clock::time_point last{};
    thread_local int in_a_row = 0;
    const auto now = Clock::now();
    in_a_row = now - last < kAtOnce ? in_a_row + 1 : 0;
    last = now;
    if (in_a_row >= kInARow) {
        ++fourfold::trainer::given_up;
        ::sched_yield();
        last = Clock::now();
    }
    return int(::syscall(SYS_epoll_pwait, epoll, events, most, timeout_ms, nullptr, 0));
}
#endif
