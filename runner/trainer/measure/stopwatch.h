// SPDX-License-Identifier: GPL-3.0-or-later
// Times work on ranks that start together.
#pragma once

#include "runner/trainer/comm/communicator.h"

#include <functional>

namespace fourfold::trainer {

class Stopwatch {
public:
    // `world`: all ranks of the job; it must outlive the watch. `cuda`: its tensors are on the GPU.
    Stopwatch(const Communicator& world, bool cuda);

    // Waits for all ranks.
    void meet() const;
    // The largest of all ranks' numbers.
    [[nodiscard]] double most(double value) const;
    // Seconds of one execution on the ranks that take part: the slowest rank's fastest lot of several, which fill
    // `seconds` (what else the machine does only makes it slower); other ranks wait. Collective over the world; the
    // same result on all ranks.
    [[nodiscard]] double time(bool takes_part, double seconds, const std::function<void()>& work) const;

private:
    const Communicator& world_;
    bool cuda_;
};

} // namespace fourfold::trainer
