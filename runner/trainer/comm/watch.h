// SPDX-License-Identifier: GPL-3.0-or-later
// A line to the meeting point beside the training. Every rank shows there that it lives and hears when another one
// failed: so one rank tells what happened, names who is gone, and all others leave at once.
#pragma once

#include "runner/trainer/job.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fourfold::trainer {

class Watch {
public:
    static constexpr double kBeatSeconds = 0.5; // between two signs of life
    static constexpr double kSilenceSeconds = 2; // without a sign: the rank is gone or stopped
    static constexpr double kHearingSeconds = 5; // for a rank to hear that another one failed

    // Null where the meeting point cannot be reached, and in a job of one rank.
    static std::shared_ptr<Watch> join(const Job& job);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    // `on_failure` is called once, on a thread of its own: with what another rank told, or with an empty text when the
    // meeting point is gone, which rank 0 serves.
    void start(std::function<void(const std::string& told)> on_failure);

    // Whether this rank is the first that failed, of the whole job; nothing where the meeting point is gone.
    std::optional<bool> claim();
    // Of the first rank: tells the others, who then leave.
    void tell(const std::string& line);
    // Of rank 0, which serves what the others have yet to hear: waits until they have, kHearingSeconds at most.
    void outlast_the_others();
    // Of the others: waits until the first one has told; empty when it did not, nothing where the meeting point is
    // gone.
    std::optional<std::string> told(double seconds);
    // Ranks that gave no sign of life for kSilenceSeconds, for which it waits; rank 0 where the meeting point is gone.
    std::vector<int> silent();

private:
    struct State;
    explicit Watch(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace fourfold::trainer
