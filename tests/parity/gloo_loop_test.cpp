// SPDX-License-Identifier: GPL-3.0-or-later
// A thread that asks epoll_wait() again and again leaves its core to one that computes there.
#include "runner/trainer/comm/gloo_loop.h"

#include <gtest/gtest.h>

#include <cerrno>

#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace fourfold::trainer {
namespace {

#if !defined(__SANITIZE_THREAD__) // which has an epoll_wait() of its own
TEST(GlooLoop, GivesUpTheCoreWhereItComesBackAtOnce)
{
    cpu_set_t before, one;
    ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core)
        if (CPU_ISSET(core, &before))
            CPU_SET(core, &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0); // of the thread that follows, too
    std::atomic<bool> end = false;
    std::atomic<uint64_t> computed = 0;
    std::thread computes([&] {
        while (!end)
            ++computed;
    });

    const int epoll = ::epoll_create1(EPOLL_CLOEXEC), ready = ::eventfd(1, EFD_CLOEXEC);
    epoll_event event{.events = EPOLLIN, .data = {}};
    ASSERT_EQ(::epoll_ctl(epoll, EPOLL_CTL_ADD, ready, &event), 0);
    while (computed == 0)
        ::sched_yield();
    // Ten windows of calls that take a tenth of a millisecond: nobody else's turn comes in between by itself but in one
    // of the kernel's ticks, which are a millisecond apart at least.
    int windows_with_work = 0;
    const uint64_t given_up = given_up_cores();
    for (int window = 0; window < 10; ++window) {
        const uint64_t at_first = computed;
        for (int call = 0; call < 100; ++call)
            ASSERT_EQ(::epoll_wait(epoll, &event, 1, 1000), 1);
        windows_with_work += computed > at_first ? 1 : 0;
    }
    end = true;
    computes.join();
    ::close(ready);
    ::close(epoll);
    ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
    EXPECT_GT(given_up_cores(), given_up);
    EXPECT_EQ(windows_with_work, 10);
}
#endif

// What waits for nothing but its time does not come back at once.
TEST(GlooLoop, KeepsItsTurnOtherwise)
{
    const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
    epoll_event event{};
    const uint64_t given_up = given_up_cores();
    for (int call = 0; call < 10; ++call)
        EXPECT_EQ(::epoll_wait(epoll, &event, 1, 1), 0);
    EXPECT_EQ(::epoll_wait(-1, &event, 1, 1), -1);
    EXPECT_EQ(errno, EBADF);
    EXPECT_EQ(given_up_cores(), given_up);
    ::close(epoll);
}

} // namespace
} // namespace fourfold::trainer
