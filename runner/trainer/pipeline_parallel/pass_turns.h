// SPDX-License-Identifier: GPL-3.0-or-later
// Two passes over different micro-batches that take turns: while what the one asked of the network is under way, the
// other computes (DeepSeek-V3, arXiv:2412.19437, section 3.2.1, figure 4). Each has a thread of its own, of which only
// one runs at any time, and the turn passes at the same places on every rank, so that all ranks ask the network for the
// same things in the same order.
#pragma once

#include "runner/trainer/comm/worker.h"

#include <array>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>

namespace fourfold::trainer {

class PassTurns {
public:
    using Pass = std::function<void()>;
    // Told that pass 0 or 1 runs from here on, or no longer; by the thread that has the turn.
    using Changes = std::function<void(int pass, bool runs)>;

    // Both, to their ends; `first` runs on this thread and begins. Throws what the one threw that failed first; the
    // other then ends at its next give().
    void run(const Pass& first, const Pass& second, Changes changes);

    // For who asked the network for something and will now wait for it: the other pass goes on up to its own call, or
    // to its end. Does nothing where no two passes run, or the other has ended.
    void give();
    // Whether the other pass would go on then. Asked by who has the turn.
    [[nodiscard]] bool has_other() const { return two_ && !ended_[std::size_t(1 - turn_)]; }

private:
    void take(int own, const Pass& pass);

    std::mutex mutex_;
    std::condition_variable changed_;
    bool two_ = false;
    int turn_ = 0;
    std::array<bool, 2> ended_{};
    std::exception_ptr failure_;
    Changes changes_;
    Worker worker_; // last member: it ends before what its tasks use
};

} // namespace fourfold::trainer
