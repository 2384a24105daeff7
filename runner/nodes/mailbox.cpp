// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/nodes/mailbox.h"

namespace fourfold {

void Mailbox::post(Letter letter)
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return letters_.size() < kCapacity; });
    letters_.push_back(std::move(letter));
    changed_.notify_all();
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

} // namespace fourfold
