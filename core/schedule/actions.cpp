// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/actions.h"

#include "core/schedule/zero_bubble.h"

#include <algorithm>

namespace fourfold {
namespace {

using Actions = std::vector<Action>;

Actions gpipe(int rank, int pp, int virtual_stages, int micro_batches)
{
    Actions actions;
    for (int v = 0; v < virtual_stages; ++v)
        for (int m = 0; m < micro_batches; ++m)
            actions.push_back({ActionKind::forward, m, v * pp + rank});
    for (int v = virtual_stages - 1; v >= 0; --v)
        for (int m = 0; m < micro_batches; ++m)
            actions.push_back({ActionKind::backward, m, v * pp + rank});
    return actions;
}

// Warm-up forwards, then one forward and one backward in turn, then the remaining backwards.
template <typename Forward, typename Backward>
Actions one_forward_one_backward(int warm_up, int total, Forward forward, Backward backward)
{
    Actions actions;
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

Actions one_f_one_b(int rank, int pp, int micro_batches)
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

// Micro-batches go through the chunks of a rank in groups of pp: chunk 0 for pp micro-batches, chunk 1 for the same ...
Actions interleaved(int rank, int pp, int virtual_stages, int micro_batches)
{
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

} // namespace

Expected<std::vector<std::vector<Action>>> make_schedule(
    Schedule schedule, int pp, int virtual_stages, int micro_batches)
{
    if (pp < 1 || virtual_stages < 1 || micro_batches < 1)
        return Problem{ProblemCode::bad_input,
            "a schedule needs at least one stage and one micro-batch, not pp " + std::to_string(pp)
                + ", virtual stages " + std::to_string(virtual_stages) + ", micro-batches "
                + std::to_string(micro_batches),
            "", "training.global_batch"};
    if (schedule == Schedule::csv)
        return Problem{ProblemCode::unsupported, "the actions of a schedule file are in the file, not generated",
            "read it with the plan that names it", "training.schedule"};
    if (schedule == Schedule::one_f_one_b && virtual_stages > 1 && pp > 1)
        return Problem{ProblemCode::bad_input,
            "schedule 1f1b has one chunk a stage, not " + std::to_string(virtual_stages), "use schedule interleaved",
            "layout.virtual_stages"};
    if (schedule == Schedule::interleaved && virtual_stages > 1 && micro_batches % pp != 0)
        return Problem{ProblemCode::bad_input,
            "schedule interleaved needs micro-batches in multiples of pp " + std::to_string(pp) + ", not "
                + std::to_string(micro_batches),
            "change global_batch", "training.global_batch"};
    if (schedule == Schedule::zb_v && pp > 1 && virtual_stages != 2)
        return Problem{ProblemCode::bad_input,
            "schedule zb-v has two chunks a stage, not " + std::to_string(virtual_stages), "set virtual_stages to 2",
            "layout.virtual_stages"};
    if (schedule == Schedule::zb_h1 && pp > 1 && virtual_stages > 1)
        return Problem{ProblemCode::bad_input,
            "schedule zb-h1 has one chunk a stage, not " + std::to_string(virtual_stages), "use schedule zb-v",
            "layout.virtual_stages"};
    std::vector<Actions> lists;
    lists.reserve(static_cast<std::size_t>(pp));
    for (int rank = 0; rank < pp; ++rank) {
        // One stage alone just accumulates gradients, whatever the schedule is called.
        if (schedule == Schedule::zb_h1 && pp > 1)
            lists.push_back(zb_h1_actions(rank, pp, micro_batches));
        else if (schedule == Schedule::zb_v && pp > 1)
            lists.push_back(zb_v_actions(rank, pp, micro_batches));
        else if (schedule == Schedule::gpipe && pp > 1)
            lists.push_back(gpipe(rank, pp, virtual_stages, micro_batches));
        else if (virtual_stages > 1)
            lists.push_back(interleaved(rank, pp, virtual_stages, micro_batches));
        else
            lists.push_back(one_f_one_b(rank, pp, micro_batches));
    }
    return lists;
}

} // namespace fourfold
