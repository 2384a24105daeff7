// SPDX-License-Identifier: GPL-3.0-or-later
// A thread for communication that consists of several messages with arithmetic between them.
#pragma once

#include "runner/trainer/comm/transport.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

namespace fourfold::trainer {

// Runs tasks one after the other, beside the thread that asks for them. Starts its thread with the first task.
class Worker {
public:
    Worker() = default;
    ~Worker(); // after the tasks that were asked for
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    // wait() throws what the task threw. The task is gone by then, with everything that it held.
    std::unique_ptr<Pending> run(std::function<void()> task);

private:
    struct Task {
        std::function<void()> work;
        std::promise<void> done;
    };
    void loop();

    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Task> tasks_;
    bool stop_ = false;
    std::thread thread_;
};

} // namespace fourfold::trainer
