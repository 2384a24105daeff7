// SPDX-License-Identifier: GPL-3.0-or-later
// The pipelines on which schedules and their simulation are tested.
#pragma once

#include "core/schedule/schedules.h"
#include "core/schedule/timeline.h"

#include <gtest/gtest.h>

namespace fourfold {

struct Case {
    Schedule schedule;
    int pp, virtual_stages, micro_batches;
};

inline std::vector<Case> cases()
{
    std::vector<Case> list;
    for (int pp : {1, 2, 3, 4, 8}) {
        for (int micro_batches : {1, 2, 3, 4, 7, 8, 16, 24}) {
            list.push_back({Schedule::gpipe, pp, 1, micro_batches});
            list.push_back({Schedule::one_f_one_b, pp, 1, micro_batches});
            list.push_back({Schedule::zb_h1, pp, 1, micro_batches});
            for (const Schedule v_shaped : {Schedule::zb_v, Schedule::dualpipe_v}) {
                if (pp > 1)
                    list.push_back({v_shaped, pp, 2, micro_batches});
            }
            for (int v : {2, 3}) {
                if (pp > 1 && micro_batches % pp == 0)
                    list.push_back({Schedule::interleaved, pp, v, micro_batches});
            }
        }
    }
    return list;
}

inline std::vector<std::vector<Action>> schedule_of(const Case& c)
{
    auto actions = make_schedule(c.schedule, c.pp, c.virtual_stages, c.micro_batches);
    EXPECT_TRUE(actions.has_value()) << actions.error().line();
    return actions ? *actions : std::vector<std::vector<Action>>{};
}

inline std::string text(const Case& c)
{
    return to_text(c.schedule) + " pp " + std::to_string(c.pp) + " v " + std::to_string(c.virtual_stages) + " mb "
        + std::to_string(c.micro_batches);
}

// Whose input: a chunk's forward, its backward or input gradient, or its weight gradient.
enum class Work { forward, gradient, weights };
inline Work work_of(ActionKind kind)
{
    return kind == ActionKind::forward        ? Work::forward
        : kind == ActionKind::weight_gradient ? Work::weights
                                              : Work::gradient;
}
using Key = std::tuple<Work, int, int>; // chunk, micro-batch

// The stage of a chunk by the figures of the papers, written apart from the code.
inline int home_of(const Case& c, int chunk)
{
    if ((c.schedule == Schedule::zb_v || c.schedule == Schedule::dualpipe_v) && c.pp > 1)
        return chunk < c.pp ? chunk : 2 * c.pp - 1 - chunk;
    return chunk % c.pp;
}

inline ScheduleTimes equal_times(int chunks, double forward, double backward, double hop = 0)
{
    return {std::vector<ChunkTimes>(std::size_t(chunks), {forward, backward, backward / 2}), hop};
}

} // namespace fourfold
