// SPDX-License-Identifier: GPL-3.0-or-later
// Independent pieces of work on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <thread>
#include <vector>

namespace fourfold {

// Calls work(0) to work(count - 1), each once, on `threads` threads (0: one a core), the calling one among them. A stop
// request leaves the rest out.
inline void for_each_parallel(
    std::size_t count, int threads, const std::stop_token& stop, const std::function<void(std::size_t)>& work)
{
    std::atomic<std::size_t> next{0};
    const auto run = [&] {
        for (std::size_t i = next++; i < count && !stop.stop_requested(); i = next++)
            work(i);
    };
    const int cores = std::max(1, int(std::thread::hardware_concurrency()));
    std::vector<std::jthread> others;
    for (int i = 1; i < (threads > 0 ? threads : cores); ++i)
        others.emplace_back(run);
    run();
}

} // namespace fourfold
