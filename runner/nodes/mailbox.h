// SPDX-License-Identifier: GPL-3.0-or-later
// From the workers, one per node, to the thread that launched: what it has to do there (observer, history). Bounded, so
// that a node cannot fill the memory when the history is slow.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

namespace fourfold {

class Mailbox {
public:
    using Letter = std::function<void()>;

    // Waits while the box is full: for workers only, the thread that takes would wait for itself.
    void post(Letter letter);
    // The next letter, or nothing after `timeout`.
    std::optional<Letter> take(std::chrono::milliseconds timeout);

private:
    static constexpr std::size_t kCapacity = 64;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Letter> letters_;
};

} // namespace fourfold
