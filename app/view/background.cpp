// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/background.h"

namespace fourfold::view {

Background::Background(std::function<void()> wake)
    : wake_(std::move(wake))
{
}

Background::~Background()
{
    cancel();
}

void Background::start(std::function<Done(const std::stop_token&)> work)
{
    thread_.request_stop();
    const std::uint64_t serial = ++serial_;
    running_ = true;
    // The old thread is joined by the new one, not by the owner.
    thread_ = std::jthread(
        [this, serial, work = std::move(work), before = std::move(thread_)](const std::stop_token& stop) mutable {
            if (before.joinable())
                before.join();
            if (stop.stop_requested())
                return;
            Done done = work(stop);
            {
                const std::scoped_lock lock(mutex_);
                outcome_ = done ? std::move(done) : [] {};
                outcome_serial_ = serial;
            }
            wake_();
        });
}

void Background::cancel()
{
    running_ = false;
    ++serial_;
    thread_.request_stop();
}

bool Background::deliver()
{
    Done done;
    {
        const std::scoped_lock lock(mutex_);
        if (!outcome_)
            return false;
        done = std::exchange(outcome_, nullptr);
        if (outcome_serial_ != serial_ || !running_)
            return false;
    }
    running_ = false;
    done();
    return true;
}

} // namespace fourfold::view
