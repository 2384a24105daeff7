// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/chunk_placement.h"

namespace fourfold {

int stage_of_chunk(Schedule schedule, int pp, int chunk)
{
    const int stage = chunk % pp;
    const bool walks_back = schedule == Schedule::zb_v && chunk / pp % 2 == 1;
    return walks_back ? pp - 1 - stage : stage;
}

std::vector<int> chunk_placement(Schedule schedule, int pp, int virtual_stages)
{
    std::vector<int> stages;
    for (int chunk = 0; chunk < pp * virtual_stages; ++chunk)
        stages.push_back(stage_of_chunk(schedule, pp, chunk));
    return stages;
}

} // namespace fourfold
