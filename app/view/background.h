// SPDX-License-Identifier: GPL-3.0-or-later
// Work that takes longer than a frame, on a thread of its own; the newest request wins and the owner never waits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

namespace fourfold::view {

class Background {
public:
    // `wake` is called on the thread when deliver() has something to do.
    explicit Background(std::function<void()> wake);
    ~Background(); // cancels and waits
    Background(const Background&) = delete;
    Background& operator=(const Background&) = delete;

    // What is to be done with the outcome, on the owner's thread.
    using Done = std::function<void()>;
    // Runs `work` on a thread after the one before, which is asked to stop. deliver() calls its Done unless start() or
    // cancel() came in between.
    void start(std::function<Done(const std::stop_token&)> work);
    void cancel();
    // True from start() until its Done was called, or cancel().
    [[nodiscard]] bool is_running() const { return running_; }
    // Calls the Done that is waiting; whether there was one.
    bool deliver();

private:
    std::function<void()> wake_;
    std::mutex mutex_;
    Done outcome_; // of `outcome_serial_`, waiting for the owner
    std::uint64_t outcome_serial_ = 0, serial_ = 0;
    bool running_ = false;
    std::jthread thread_;
};

} // namespace fourfold::view
