// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/rank_actions.h"

#include <algorithm>
#include <cmath>

namespace fourfold {

using enum ActionKind;

void zb_h1_actions(RankActions& actions)
{
    const std::int64_t each = actions.each();
    const std::int64_t late = std::min<std::int64_t>(actions.rank(), each); // weight gradients that wait
    actions.add(std::min<std::int64_t>(actions.shape().pp - 1 - actions.rank(), each), {{forward}});
    actions.add(late, {{forward}, {input_gradient}});
    actions.add(each - late, {{forward}, {input_gradient}, {weight_gradient}});
    actions.add(late, {{weight_gradient}});
}

std::optional<double> zb_h1_length(int pp, int /*virtual_stages*/, int micro_batches, const ChunkTimes& chunk)
{
    const double forward = chunk.forward_s, weight = chunk.weight_gradient_s, input = chunk.backward_s - weight;
    if (weight > std::min(forward, input))
        return std::nullopt;
    const double m = micro_batches, hops = pp - 1;
    return m * (forward + chunk.backward_s) + hops * (forward + input) - std::min(m - 1, hops) * weight;
}

void zb_v_actions(RankActions& actions)
{
    constexpr std::uint8_t kDown = 0, kUp = 1;
    const int pp = actions.shape().pp, rank = actions.rank();
    // Fewer micro-batches than fill the pipeline run the pattern of 2 pp - 1 with gaps.
    const std::int64_t filled = std::max<std::int64_t>(2 * std::int64_t(pp) - 1, actions.shape().micro_batches);
    // Until the first micro-batch has come down the V and back up to this stage.
    actions.add(2 * std::int64_t(pp - rank) - 1, {{forward, kDown}});
    actions.add(rank, {{forward, kUp}, {forward, kDown}});
    actions.add(pp - rank, {{forward, kUp}, {input_gradient, kUp}, {weight_gradient, kUp}});
    // One forward and one backward of each side in turn.
    actions.add(filled - pp,
        {{forward, kDown}, {input_gradient, kDown}, {weight_gradient, kDown}, {forward, kUp}, {input_gradient, kUp},
            {weight_gradient, kUp}});
    // The last input gradients go out first; their weight gradients fill the end.
    actions.add(rank, {{input_gradient, kDown}, {input_gradient, kUp}});
    actions.add(pp - rank, {{input_gradient, kDown}, {weight_gradient, kDown}});
    actions.add(rank, {{weight_gradient, kUp}});
    actions.add(rank, {{weight_gradient, kDown}});
}

std::optional<double> zb_v_length(int pp, int /*virtual_stages*/, int micro_batches, const ChunkTimes& chunk)
{
    const double forward = chunk.forward_s, weight = chunk.weight_gradient_s, input = chunk.backward_s - weight;
    const auto about = [](double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); };
    if (!about(forward, input) || !about(input, weight))
        return std::nullopt;
    const double m = micro_batches, hops = pp - 1;
    return 2 * m * (forward + chunk.backward_s) + std::max(hops, 4 * hops - 2 * (m - 1)) * forward;
}

void dualpipe_v_actions(RankActions& actions)
{
    constexpr std::uint8_t kDown = 0, kUp = 1;
    const std::int64_t pp = actions.shape().pp, rank = actions.rank(), below = pp - rank - 1;
    // Fewer micro-batches than fill the pipeline run the pattern of 2 pp with gaps.
    const std::int64_t filled = std::max<std::int64_t>(2 * pp, actions.shape().micro_batches);
    actions.add(2 * below, {{forward, kDown}});
    actions.add(rank + 1, {{forward, kDown}, {forward, kUp}});
    actions.add(below, {{input_gradient, kUp}, {weight_gradient, kUp}, {forward, kUp}});
    // One forward and one backward of each side in turn.
    actions.add(filled - 2 * pp + rank + 1,
        {{forward, kDown}, {input_gradient, kUp}, {weight_gradient, kUp}, {forward, kUp}, {input_gradient, kDown},
            {weight_gradient, kDown}});
    actions.add(below,
        {{input_gradient, kUp}, {weight_gradient, kUp}, {forward, kUp}, {input_gradient, kDown},
            {weight_gradient, kDown}});
    // Of the last backwards the second half leaves its weight gradients for the end, where they fill what is idle.
    const std::int64_t half = (rank + 1) / 2;
    const bool odd = rank % 2 == 0; // number of these backwards on each side
    actions.add(
        half, {{input_gradient, kUp}, {weight_gradient, kUp}, {input_gradient, kDown}, {weight_gradient, kDown}});
    actions.add(odd ? 1 : 0, {{input_gradient, kUp}, {weight_gradient, kUp}, {input_gradient, kDown}});
    actions.add(half, {{input_gradient, kUp}, {input_gradient, kDown}});
    for (std::int64_t late = 0; late < pp; ++late) { // in the order of their input gradients
        const bool before_half = late < 2 * half + (odd ? 1 : 0);
        const std::uint8_t side = before_half && (late % 2 == 0) != odd ? kUp : kDown;
        if (late < below)
            actions.add(1, {{weight_gradient, side}, {input_gradient, kDown}});
        else
            actions.add(1, {{weight_gradient, side}});
    }
}

} // namespace fourfold
