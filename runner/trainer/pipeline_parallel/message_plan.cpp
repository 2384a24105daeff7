// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/pipeline_parallel/message_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace fourfold::trainer {

namespace {
using Key = std::tuple<bool, int, int>; // activation or gradient, chunk, micro-batch
struct Place {
    int rank = 0;
    std::size_t action = 0;
};
} // namespace

Expected<PlanSchedule> listed_schedule(const ResolvedPlan& plan)
{
    FOURFOLD_TRY(PlanSchedule schedule, plan_schedule(plan, plan.training.micro_batches));
    if (!schedule.listed())
        return too_long_to_list(schedule.shape, "training.schedule");
    if (plan.layout.pp == 1 && passes_side_by_side(plan)) { // each backward beside the forward after its own
        schedule.shape.ahead = 1;
        FOURFOLD_TRY(schedule.actions, make_schedule(schedule.shape));
    }
    return schedule;
}

std::vector<std::vector<Action>> forwards_only(const std::vector<std::vector<Action>>& lists)
{
    auto forwards = lists;
    for (auto& list : forwards)
        std::erase_if(list, [](const Action& action) { return !is_forward(action); });
    return forwards;
}

std::vector<PlannedAction> plan_messages(const std::vector<std::vector<Action>>& lists, int rank)
{
    std::map<Key, Place> places;
    int micro_batches = 0;
    for (std::size_t r = 0; r < lists.size(); ++r)
        for (std::size_t i = 0; i < lists[r].size(); ++i) {
            const Action& action = lists[r][i];
            if (action.kind != ActionKind::weight_gradient)
                places[{is_forward(action), action.chunk, action.micro_batch}] = {int(r), i};
            micro_batches = std::max(micro_batches, action.micro_batch + 1);
        }

    // The message between an action and that of another chunk with the same way, unless that runs on this rank too.
    const auto message = [&](const Action& action, int chunk, int producer) -> std::optional<Message> {
        const auto found = places.find({is_forward(action), chunk, action.micro_batch});
        if (found == places.end() || found->second.rank == rank)
            return std::nullopt;
        const int peer = found->second.rank;
        const bool sends = producer == action.chunk;
        return Message{peer, producer * micro_batches + action.micro_batch, found->second.action,
            {is_forward(action), sends ? rank : peer, sends ? peer : rank}};
    };
    std::vector<PlannedAction> plan;
    for (const Action& action : lists.at(std::size_t(rank))) {
        PlannedAction planned{action, {}, {}};
        if (action.kind != ActionKind::weight_gradient) {
            const int step = is_forward(action) ? 1 : -1;
            planned.receive = message(action, action.chunk - step, action.chunk - step);
            planned.send = message(action, action.chunk + step, action.chunk);
        }
        plan.push_back(planned);
    }
    return plan;
}

std::vector<std::vector<bool>> pair_passes(const std::vector<std::vector<Action>>& lists)
{
    std::set<Key> all, done;
    std::vector<std::set<int>> chunks(lists.size());
    std::vector<std::vector<bool>> beside, alone;
    for (std::size_t rank = 0; rank < lists.size(); ++rank) {
        for (const Action& action : lists[rank]) {
            if (action.kind != ActionKind::weight_gradient)
                all.insert({is_forward(action), action.chunk, action.micro_batch});
            chunks[rank].insert(action.chunk);
        }
        beside.emplace_back(lists[rank].size(), false);
        alone.emplace_back(lists[rank].size(), false);
    }
    const auto can_run = [&](const Action& action) {
        if (action.kind == ActionKind::weight_gradient)
            return true;
        const Key before{is_forward(action), action.chunk + (is_forward(action) ? -1 : 1), action.micro_batch},
            own{true, action.chunk, action.micro_batch};
        return (!all.contains(before) || done.contains(before)) && (is_forward(action) || done.contains(own));
    };
    const auto may_pair = [&](std::size_t rank, std::size_t i) {
        const std::vector<Action>& list = lists[rank];
        return i + 1 < list.size() && !alone[rank][i] && is_forward(list[i]) && !is_forward(list[i + 1])
            && list[i + 1].kind != ActionKind::weight_gradient && list[i].micro_batch != list[i + 1].micro_batch
            && (chunks[rank].size() == 1 || list[i].chunk != list[i + 1].chunk);
    };
    // Played through: both of a pair begin when both can. Where all ranks wait, the first pair of them is given up.
    std::vector<std::size_t> next(lists.size(), 0);
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (std::size_t rank = 0; rank < lists.size(); ++rank)
            while (next[rank] < lists[rank].size()) {
                const std::size_t i = next[rank], count = may_pair(rank, i) ? 2 : 1;
                const auto first = lists[rank].begin() + std::ptrdiff_t(i);
                if (!std::all_of(first, first + std::ptrdiff_t(count), can_run))
                    break;
                for (auto action = first; action != first + std::ptrdiff_t(count); ++action)
                    done.insert({is_forward(*action), action->chunk, action->micro_batch});
                beside[rank][i] = count == 2;
                next[rank] += count;
                goes_on = true;
            }
        for (std::size_t rank = 0; !goes_on && rank < lists.size(); ++rank)
            if (next[rank] < lists[rank].size() && may_pair(rank, next[rank]) && can_run(lists[rank][next[rank]]))
                goes_on = alone[rank][next[rank]] = true;
    }
    return beside;
}

std::vector<PipelineLink> pipeline_links(const std::vector<std::vector<Action>>& lists)
{
    std::set<PipelineLink> links;
    for (std::size_t rank = 0; rank < lists.size(); ++rank)
        for (const PlannedAction& planned : plan_messages(lists, int(rank)))
            if (planned.send)
                links.insert(planned.send->link);
    return {links.begin(), links.end()};
}

} // namespace fourfold::trainer
