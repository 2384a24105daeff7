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

// Calls work(0) to work(count - 1), each once, on `threads` threads (0: one a core), the calling one among them. A stop
// request leaves the rest out. `work` may not throw; which thread does an item must not show in the result.
template <typename Work>
void for_each_parallel(std::size_t count, int threads, const std::stop_token& stop, const Work& work)
{
    std::atomic<std::size_t> next{0};
    const auto run = [&] {
        for (std::size_t i = next++; i < count && !stop.stop_requested(); i = next++)
            work(i);
    };
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t workers = std::min(threads > 0 ? std::size_t(threads) : cores, count);
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < workers; ++i)
        others.emplace_back(run);
    run();
}
template <typename Work>
void for_each_parallel(std::size_t count, int threads, const Work& work)
{
    for_each_parallel(count, threads, std::stop_token(), work);
}

} // namespace fourfold
