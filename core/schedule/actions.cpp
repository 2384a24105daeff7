// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/actions.h"

#include "core/schedule/rank_actions.h"

namespace fourfold {

Expected<void> check_schedule(const ScheduleShape& shape)
{
    const auto [schedule, pp, virtual_stages, micro_batches] = shape;
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
    return {};
}

Expected<std::vector<std::vector<Action>>> make_schedule(
    Schedule schedule, int pp, int virtual_stages, int micro_batches)
{
    const ScheduleShape shape{schedule, pp, virtual_stages, micro_batches};
    FOURFOLD_CHECK(check_schedule(shape));
    std::vector<std::vector<Action>> lists;
    lists.reserve(static_cast<std::size_t>(pp));
    for (int rank = 0; rank < pp; ++rank)
        lists.push_back(RankActions(shape, rank).list());
    return lists;
}

} // namespace fourfold
