// SPDX-License-Identifier: GPL-3.0-or-later
// Independent pieces of work on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <stop_token>
#include <thread>
#include <vector>

namespace fourfold {

// Of this computer; 0: not known. The system reads a file for it, which takes longer than the cost of a layout does, so
// it is asked once.
inline unsigned cores_here()
{
    static const unsigned cores = std::thread::hardware_concurrency();
    return cores;
}

// Threads that share `count` pieces of work: `wanted` (0: one per core), but none without work, and one at least.
inline std::size_t thread_count(int wanted, std::size_t count)
{
    const std::size_t cores = std::max(1U, cores_here());
    return std::clamp<std::size_t>(count, 1, wanted > 0 ? std::size_t(wanted) : cores);
}

// Calls work(thread, i) once for each i below `count`, on `threads` (1 or more) threads numbered from 0, which is the
// calling one. A stop request leaves the rest out. `work` may not throw; which thread does an item must not show in the
// result.
template <typename Work>
void parallel_for(std::size_t count, std::size_t threads, const std::stop_token& stop, const Work& work)
{
    std::atomic<std::size_t> next{0};
    const auto run = [&](std::size_t thread) {
        for (std::size_t i = next++; i < count && !stop.stop_requested(); i = next++)
            work(thread, i);
    };
    std::vector<std::jthread> others;
    for (std::size_t thread = 1; thread < threads; ++thread)
        others.emplace_back(run, thread);
    run(0);
}

// The same where it does not matter to the work either: work(0) to work(count - 1), on `threads` threads (0: one a
// core).
template <typename Work>
void for_each_parallel(std::size_t count, int threads, const std::stop_token& stop, const Work& work)
{
    parallel_for(count, thread_count(threads, count), stop, [&](std::size_t, std::size_t i) { work(i); });
}
template <typename Work>
void for_each_parallel(std::size_t count, int threads, const Work& work)
{
    for_each_parallel(count, threads, std::stop_token(), work);
}

} // namespace fourfold
