// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/mailbox.h"

namespace fourfold {

bool Mailbox::post(Letter letter)
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || letters_.size() < kCapacity; });
    if (closed_)
        return false;
    letters_.push_back(std::move(letter));
    changed_.notify_all();
    return true;
}

std::optional<Mailbox::Letter> Mailbox::take(std::chrono::milliseconds timeout)
{
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, timeout, [this] { return !letters_.empty(); }))
        return {};
    Letter letter = std::move(letters_.front());
    letters_.pop_front();
    changed_.notify_all();
    return letter;
}

void Mailbox::close()
{
    const std::lock_guard lock(mutex_);
    closed_ = true;
    letters_.clear();
    changed_.notify_all();
}

} // namespace fourfold
