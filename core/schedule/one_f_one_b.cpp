// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/rank_actions.h"

#include <algorithm>

namespace fourfold {

using enum ActionKind;

void gpipe_actions(RankActions& actions)
{
    actions.set_block(actions.shape().micro_batches);
    actions.add(actions.each(), {{forward}});
    actions.add(actions.each(), {{backward}});
}

void one_f_one_b_actions(RankActions& actions)
{
    const auto& [schedule, pp, virtual_stages, micro_batches, ahead] = actions.shape();
    const std::int64_t behind = pp - 1 - actions.rank() + (pp == 1 ? ahead : 0); // stages after this one
    const std::int64_t warm_up = virtual_stages > 1 ? 2 * behind + std::int64_t(virtual_stages - 1) * pp : behind;
    actions.add(std::min(warm_up, actions.each()), {{forward}});
    actions.add(actions.each(), {{forward}, {backward}});
}

std::optional<double> looped_length(int pp, int virtual_stages, int micro_batches, const ChunkTimes& chunk)
{
    return (virtual_stages * double(micro_batches) + pp - 1) * (chunk.forward_s + chunk.backward_s);
}

} // namespace fourfold
