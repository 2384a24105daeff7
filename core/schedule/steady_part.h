// SPDX-License-Identifier: GPL-3.0-or-later
// What a planned timeline leaves out: of very many micro-batches the planner simulates as many as bound its work, and
// knows of the others only how long they take.
#pragma once

#include "core/schedule/timeline.h"

#include <optional>
#include <string>

namespace fourfold {

// The middle of a step, where all stages work and no span says at what: micro-batches like those before and behind.
struct SteadyPart {
    double begin_s = 0, end_s = 0;
    int micro_batches = 0;
};

// Of a timeline that lists all of a step but `missing` micro-batches. Empty: every micro-batch has its spans.
std::optional<SteadyPart> steady_part(const Timeline& timeline, int missing);
std::string steady_words(const SteadyPart& steady); // "1,544 more micro-batches like these"

// A step for who draws, writes or adds it up: its spans, and what they leave out. The timeline outlives it.
struct ListedStep {
    const Timeline& timeline;
    std::optional<SteadyPart> steady;
    ListedStep(const Timeline& spans, std::optional<SteadyPart> without = {})
        : timeline(spans)
        , steady(without)
    {
    }
};

} // namespace fourfold
