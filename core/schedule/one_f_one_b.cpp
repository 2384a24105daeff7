// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/schedules.h"

#include <algorithm>

namespace fourfold {
namespace {

// Warm-up forwards, then one forward and one backward in turn, then the remaining backwards.
template <typename Forward, typename Backward>
std::vector<Action> one_forward_one_backward(int warm_up, int total, Forward forward, Backward backward)
{
    std::vector<Action> actions;
    actions.reserve(static_cast<std::size_t>(2 * total));
    warm_up = std::min(warm_up, total);
    for (int i = 0; i < warm_up; ++i)
        actions.push_back(forward(i));
    for (int i = warm_up; i < total; ++i) {
        actions.push_back(forward(i));
        actions.push_back(backward(i - warm_up));
    }
    for (int i = total - warm_up; i < total; ++i)
        actions.push_back(backward(i));
    return actions;
}

} // namespace

std::vector<Action> gpipe_actions(int rank, int pp, int virtual_stages, int micro_batches)
{
    std::vector<Action> actions;
    for (int v = 0; v < virtual_stages; ++v)
        for (int m = 0; m < micro_batches; ++m)
            actions.push_back({ActionKind::forward, m, v * pp + rank});
    for (int v = virtual_stages - 1; v >= 0; --v)
        for (int m = 0; m < micro_batches; ++m)
            actions.push_back({ActionKind::backward, m, v * pp + rank});
    return actions;
}

std::vector<Action> one_f_one_b_actions(int rank, int pp, int /*virtual_stages*/, int micro_batches)
{
    return one_forward_one_backward(
        pp - 1 - rank, micro_batches,
        [&](int i) {
            return Action{ActionKind::forward, i, rank};
        },
        [&](int i) {
            return Action{ActionKind::backward, i, rank};
        });
}

std::vector<Action> interleaved_actions(int rank, int pp, int virtual_stages, int micro_batches)
{
    // Chunk 0 for pp micro-batches, chunk 1 for the same ...
    const int group = pp * virtual_stages;
    const auto at = [&](int i, bool forward) {
        const int in_group = i % group;
        const int v = forward ? in_group / pp : virtual_stages - 1 - in_group / pp;
        const int m = i / group * pp + in_group % pp;
        return Action{forward ? ActionKind::forward : ActionKind::backward, m, v * pp + rank};
    };
    const int warm_up = 2 * (pp - 1 - rank) + (virtual_stages - 1) * pp;
    return one_forward_one_backward(
        warm_up, micro_batches * virtual_stages, [&](int i) { return at(i, true); },
        [&](int i) { return at(i, false); });
}

std::optional<double> looped_length(int pp, int virtual_stages, int micro_batches, const ChunkTimes& chunk)
{
    return (virtual_stages * double(micro_batches) + pp - 1) * (chunk.forward_s + chunk.backward_s);
}

} // namespace fourfold
