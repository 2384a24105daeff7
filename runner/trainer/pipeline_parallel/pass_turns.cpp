// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/pipeline_parallel/pass_turns.h"

#include <ATen/ThreadLocalState.h>

#include <stdexcept>
#include <utility>

namespace fourfold::trainer {

void PassTurns::run(const Pass& first, const Pass& second, Changes changes)
{
    changes_ = std::move(changes);
    turn_ = 0;
    ended_ = {};
    failure_ = nullptr;
    two_ = true;
    const at::ThreadLocalState here; // gradient mode and what observes operators
    const auto beside = worker_.run([&] {
        const at::ThreadLocalStateGuard same(here);
        take(1, second);
    });
    take(0, first);
    beside->wait();
    two_ = false;
    if (failure_)
        std::rethrow_exception(std::exchange(failure_, nullptr));
}

void PassTurns::take(int own, const Pass& pass)
{
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return turn_ == own; });
    }
    if (!failure_) {
        changes_(own, true);
        try {
            pass();
        } catch (...) {
            if (!failure_)
                failure_ = std::current_exception();
        }
        changes_(own, false);
    }
    const std::scoped_lock lock(mutex_);
    ended_[std::size_t(own)] = true;
    turn_ = 1 - own;
    changed_.notify_all();
}

void PassTurns::give()
{
    if (!has_other())
        return;
    const int own = turn_; // whoever calls has it: passes may use other threads, as autograd does
    changes_(own, false);
    {
        std::unique_lock lock(mutex_);
        turn_ = 1 - own;
        changed_.notify_all();
        changed_.wait(lock, [&] { return turn_ == own; });
    }
    changes_(own, true);
    if (failure_)
        throw std::runtime_error("the pass beside this one failed");
}

} // namespace fourfold::trainer
