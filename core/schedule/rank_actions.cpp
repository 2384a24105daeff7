// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/rank_actions.h"

#include <algorithm>

namespace fourfold {

RankActions::RankActions(const ScheduleShape& shape, int rank)
    : shape_(shape)
    , rank_(rank)
    , v_shaped_(traits_of(shape.schedule).order == ChunkOrder::v && shape.pp > 1)
    , splits_backward_(traits_of(shape.schedule).splits_backward && shape.pp > 1)
    , block_(shape.pp)
    , each_(std::int64_t(shape.micro_batches) * (v_shaped_ ? 1 : shape.virtual_stages))
{
    // One stage alone just accumulates gradients, whatever the schedule is called.
    (shape.pp > 1 ? traits_of(shape.schedule).generator : one_f_one_b_actions)(*this);
}

void RankActions::add(std::int64_t turns, std::initializer_list<Pass> passes)
{
    Phase phase{turns, {}, passes.size()};
    std::copy(passes.begin(), passes.end(), phase.passes.begin());
    if (turns > 0)
        phases_.push_back(phase);
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
    return std::size_t(each_) * (v_shaped_ ? 2 : 1) * (splits_backward_ ? 3 : 2);
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
