// SPDX-License-Identifier: GPL-3.0-or-later
// An order in which the actions of a schedule can be timed one after the other. It does not depend on how long they
// take, so that a schedule is ordered once and then timed with many sets of durations: no search, no spans.
#pragma once

#include "core/schedule/timeline.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fourfold {

class ScheduleOrder {
public:
    // `actions` as simulate() takes them.
    ScheduleOrder(const std::vector<std::vector<Action>>& actions, int virtual_stages);

    struct Ends {
        double length_s = 0;
        std::vector<double> stage_s; // when each stage ends its last action
    };
    // Kept by callers that time many schedules.
    struct Workspace {
        std::vector<double> durations, done, done_without, stage_without;
    };
    // The same times as simulate() finds.
    [[nodiscard]] Ends time(const ScheduleTimes& times) const;
    // `length_without_hops`: if not null, the length were hops to take no time, in the same pass over the actions.
    void time(
        const ScheduleTimes& times, Workspace& workspace, Ends& ends, double* length_without_hops = nullptr) const;
    [[nodiscard]] std::size_t steps() const { return steps_.size(); }

private:
    struct Step {
        std::int32_t rank, duration; // index of its duration
        std::int32_t input; // the step that it waits for, -1 = none
        bool hop; // whose result comes from another rank
    };
    template <bool kBoth>
    void run(double hop, Workspace& workspace, std::vector<double>& stages) const;

    std::vector<Step> steps_;
    int ranks_;
};

} // namespace fourfold
