// SPDX-License-Identifier: GPL-3.0-or-later
// The same work on many items, shared out to threads. Which thread does an item never shows in the result.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace fourfold {

// Calls work(i) for i in [0, count); `threads` 0 = all cores. `work` may not throw and touches only item i.
template <typename Work>
void parallel_for(std::size_t count, int threads, const Work& work)
{
    std::size_t workers = threads > 0 ? std::size_t(threads) : std::max(1U, std::thread::hardware_concurrency());
    workers = std::min(workers, count);
    std::atomic<std::size_t> next{0};
    const auto run = [&] {
        for (std::size_t i = next++; i < count; i = next++)
            work(i);
    };
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < workers; ++i)
        others.emplace_back(run);
    run();
    for (std::thread& other : others)
        other.join();
}

} // namespace fourfold
