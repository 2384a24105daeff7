// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/comm/worker.h"

#include <ATen/core/grad_mode.h>

#include <exception>

namespace fourfold::trainer {

namespace {
class Working final : public Pending {
public:
    explicit Working(std::future<void> future)
        : future_(std::move(future))
    {
    }
    void wait() override
    {
        if (future_.valid()) // else it was waited for before
            future_.get();
    }

private:
    std::future<void> future_;
};
} // namespace

Worker::~Worker()
{
    {
        const std::scoped_lock lock(mutex_);
        stop_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable())
        thread_.join();
}

std::unique_ptr<Pending> Worker::run(std::function<void()> task)
{
    Task own{std::move(task), {}};
    auto pending = std::make_unique<Working>(own.done.get_future());
    {
        const std::scoped_lock lock(mutex_);
        tasks_.push_back(std::move(own));
        if (!thread_.joinable())
            thread_ = std::thread([this] { loop(); });
    }
    wake_.notify_one();
    return pending;
}

void Worker::loop()
{
    const at::NoGradGuard no_graph;
    while (true) {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return stop_ || !tasks_.empty(); });
        if (tasks_.empty())
            return;
        Task task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        std::exception_ptr failure;
        try {
            task.work();
        } catch (...) {
            failure = std::current_exception();
        }
        task.work = nullptr;
        if (failure)
            task.done.set_exception(failure);
        else
            task.done.set_value();
    }
}

} // namespace fourfold::trainer
