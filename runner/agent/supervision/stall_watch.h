// SPDX-License-Identifier: GPL-3.0-or-later
// When a run counts as stalled: no step for max(stall_s, stall_steps * median step), and nothing else of it moves.
#pragma once

#include "runner/protocol/run_spec.h"

#include <deque>

namespace fourfold {

class StallWatch {
public:
    enum class Finding { none, stalled, recovered, hung };

    // Times are seconds of any clock that does not jump.
    StallWatch(const RunLimits& limits, double now);

    void step(double now);
    // A collective, an evaluation, a checkpoint: not a step, but a sign of life.
    void sign_of_life(double now);
    // Each finding once per stall.
    Finding look(double now);

    [[nodiscard]] double silence(double now) const { return now - last_; }
    [[nodiscard]] double limit() const;
    [[nodiscard]] double median() const; // of the last steps, 0 before the second

private:
    static constexpr std::size_t kSteps = 51;
    RunLimits limits_;
    double last_, last_step_ = -1;
    std::deque<double> steps_;
    bool stalled_ = false, hung_ = false, recovered_ = false;
    double stalled_at_ = 0;
};

} // namespace fourfold
