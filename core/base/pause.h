// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace fourfold {

// Waits for so long, or until a stop is requested: whether it is.
inline bool pause_until_stopped(const std::stop_token& stop, std::chrono::milliseconds most)
{
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any().wait_for(lock, stop, most, [] { return false; });
    return stop.stop_requested();
}

} // namespace fourfold
