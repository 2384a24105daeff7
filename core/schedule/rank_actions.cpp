// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/rank_actions.h"

#include <algorithm>

namespace fourfold {

RankActions::RankActions(const ScheduleShape& shape, int rank)
    : shape_(shape)
    , rank_(rank)
    , v_shaped_(shape.schedule == Schedule::zb_v && shape.pp > 1)
    , block_(shape.schedule == Schedule::gpipe && shape.pp > 1 ? shape.micro_batches : shape.pp)
    , each_(std::int64_t(shape.micro_batches) * (v_shaped_ ? 1 : shape.virtual_stages))
{
    // One stage alone just accumulates gradients, whatever the schedule is called.
    const int behind = shape.pp - 1 - rank; // stages after this one
    if (v_shaped_) {
        add_zb_v();
    } else if (shape.schedule == Schedule::zb_h1 && shape.pp > 1) {
        add_zb_h1();
    } else if (shape.schedule == Schedule::gpipe && shape.pp > 1) {
        add(each_, {{ActionKind::forward}});
        add(each_, {{ActionKind::backward}});
    } else {
        const bool grouped = shape.virtual_stages > 1;
        const std::int64_t warm_up
            = grouped ? 2 * std::int64_t(behind) + std::int64_t(shape.virtual_stages - 1) * shape.pp : behind;
        add(std::min(warm_up, each_), {{ActionKind::forward}});
        add(each_, {{ActionKind::forward}, {ActionKind::backward}});
    }
}

void RankActions::add(std::int64_t turns, std::initializer_list<Pass> passes)
{
    Phase phase{turns, {}, passes.size()};
    std::copy(passes.begin(), passes.end(), phase.passes.begin());
    if (turns > 0)
        phases_.push_back(phase);
}

void RankActions::add_zb_h1()
{
    using enum ActionKind;
    parts_backward_ = true;
    const std::int64_t late = std::min<std::int64_t>(rank_, each_); // weight gradients that wait
    add(std::min<std::int64_t>(shape_.pp - 1 - rank_, each_), {{forward}});
    add(late, {{forward}, {input_gradient}});
    add(each_ - late, {{forward}, {input_gradient}, {weight_gradient}});
    add(late, {{weight_gradient}});
}

void RankActions::add_zb_v()
{
    using enum ActionKind;
    parts_backward_ = true;
    constexpr std::uint8_t kDown = 0, kUp = 1;
    const std::int64_t filled = std::max<std::int64_t>(2 * std::int64_t(shape_.pp) - 1, shape_.micro_batches);
    // Until the first micro-batch has come down the V and back up to this stage.
    add(2 * std::int64_t(shape_.pp - rank_) - 1, {{forward, kDown}});
    add(rank_, {{forward, kUp}, {forward, kDown}});
    add(shape_.pp - rank_, {{forward, kUp}, {input_gradient, kUp}, {weight_gradient, kUp}});
    // One forward and one backward of each side in turn.
    add(filled - shape_.pp,
        {{forward, kDown}, {input_gradient, kDown}, {weight_gradient, kDown}, {forward, kUp}, {input_gradient, kUp},
            {weight_gradient, kUp}});
    // The last input gradients go out first; their weight gradients fill the end.
    add(rank_, {{input_gradient, kDown}, {input_gradient, kUp}});
    add(shape_.pp - rank_, {{input_gradient, kDown}, {weight_gradient, kDown}});
    add(rank_, {{weight_gradient, kUp}});
    add(rank_, {{weight_gradient, kDown}});
}

Action RankActions::at(Pass pass, std::int64_t index) const
{
    if (v_shaped_)
        return {pass.kind, int(index), pass.side == 0 ? rank_ : 2 * shape_.pp - 1 - rank_};
    if (shape_.virtual_stages == 1)
        return {pass.kind, int(index), rank_};
    const std::int64_t group = block_ * shape_.virtual_stages, in_group = index % group;
    const int chunk = int(in_group / block_);
    return {pass.kind, int(index / group * block_ + in_group % block_),
        (pass.kind == ActionKind::forward ? chunk : shape_.virtual_stages - 1 - chunk) * shape_.pp + rank_};
}

bool RankActions::next(Action& action)
{
    while (phase_ < phases_.size()) {
        const Phase& phase = phases_[phase_];
        const Pass pass = phase.passes[pass_];
        if (++pass_ == phase.count) {
            pass_ = 0;
            if (++turn_ == phase.turns) {
                turn_ = 0;
                ++phase_;
            }
        }
        const std::int64_t index = done_[pass.side][static_cast<std::size_t>(pass.kind)]++;
        if (index >= each_)
            continue;
        action = at(pass, index);
        return true;
    }
    return false;
}

std::size_t RankActions::count() const
{
    return std::size_t(each_) * (v_shaped_ ? 2 : 1) * (parts_backward_ ? 3 : 2);
}

std::vector<Action> RankActions::list()
{
    std::vector<Action> actions;
    actions.reserve(count());
    for (Action action; next(action);)
        actions.push_back(action);
    return actions;
}

} // namespace fourfold
