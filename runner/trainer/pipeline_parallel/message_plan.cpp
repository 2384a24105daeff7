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

// Where the lists have which pass.
class Places {
public:
    explicit Places(const std::vector<std::vector<Action>>& lists)
    {
        for (std::size_t r = 0; r < lists.size(); ++r)
            for (std::size_t i = 0; i < lists[r].size(); ++i) {
                const Action& action = lists[r][i];
                if (action.kind != ActionKind::weight_gradient)
                    places_[{is_forward(action), action.chunk, action.micro_batch}] = {int(r), i};
                micro_batches_ = std::max(micro_batches_, action.micro_batch + 1);
            }
    }
    [[nodiscard]] int micro_batches() const { return micro_batches_; }

    // The pass that comes after, or before, an action of `rank`: of the same way and micro-batch, in the chunk beside.
    // None where this rank has it too.
    [[nodiscard]] std::optional<Place> beside(const Action& action, int rank, bool after) const
    {
        if (action.kind == ActionKind::weight_gradient)
            return std::nullopt;
        const int step = is_forward(action) == after ? 1 : -1;
        const auto found = places_.find({is_forward(action), action.chunk + step, action.micro_batch});
        return found == places_.end() || found->second.rank == rank ? std::nullopt : std::optional(found->second);
    }

private:
    std::map<Key, Place> places_;
    int micro_batches_ = 0;
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

namespace {
std::vector<PlannedAction> messages_of(const std::vector<Action>& list, int rank, const Places& places)
{
    std::vector<PlannedAction> plan;
    for (const Action& action : list) {
        PlannedAction planned{action, {}, {}};
        const int step = is_forward(action) ? 1 : -1;
        const auto message = [&](const Place& at, bool sends) {
            const int producer = sends ? action.chunk : action.chunk - step;
            return Message{at.rank, producer * places.micro_batches() + action.micro_batch, at.action,
                {is_forward(action), sends ? rank : at.rank, sends ? at.rank : rank}};
        };
        if (const auto from = places.beside(action, rank, /*after=*/false))
            planned.receive = message(*from, false);
        if (const auto to = places.beside(action, rank, /*after=*/true))
            planned.send = message(*to, true);
        plan.push_back(planned);
    }
    return plan;
}
} // namespace

std::vector<PlannedAction> plan_messages(const std::vector<std::vector<Action>>& lists, int rank)
{
    return messages_of(lists.at(std::size_t(rank)), rank, Places(lists));
}

std::vector<std::size_t> known_to_have_arrived(const std::vector<std::vector<Action>>& lists, int rank)
{
    const Places places(lists);
    const std::vector<PlannedAction> own = messages_of(lists.at(std::size_t(rank)), rank, places);
    std::map<int, std::size_t> peers; // that this rank sends to: their place in what is known
    for (const PlannedAction& planned : own)
        if (planned.send)
            peers.try_emplace(planned.send->peer, peers.size());

    // Beside the lists: how many actions of each peer have begun, as far as a rank knows when it begins an action: what
    // it knew before, and what the rank knew that sent it the action's message.
    std::vector<std::vector<std::vector<std::size_t>>> known(lists.size());
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (std::size_t r = 0; r < lists.size(); ++r)
            while (known[r].size() < lists[r].size()) {
                const std::size_t i = known[r].size();
                const auto from = places.beside(lists[r][i], int(r), /*after=*/false);
                if (from && known[std::size_t(from->rank)].size() <= from->action)
                    break;
                std::vector<std::size_t> now = i > 0 ? known[r][i - 1] : std::vector<std::size_t>(peers.size(), 0);
                if (from)
                    std::ranges::transform(now, known[std::size_t(from->rank)][from->action], now.begin(),
                        [](std::size_t a, std::size_t b) { return std::max(a, b); });
                if (const auto peer = peers.find(int(r)); peer != peers.end())
                    now[peer->second] = i + 1;
                known[r].push_back(std::move(now));
                goes_on = true;
            }
    }

    std::vector<std::size_t> from(own.size(), own.size());
    const auto& here = known[std::size_t(rank)];
    for (std::size_t i = 0; i < own.size(); ++i)
        if (const auto& sent = own[i].send) {
            const std::size_t peer = peers.at(sent->peer);
            const auto knows = std::ranges::lower_bound(
                here, sent->peer_action + 1, {}, [&](const std::vector<std::size_t>& of) { return of[peer]; });
            from[i] = knows == here.end() ? own.size() : std::size_t(knows - here.begin());
        }
    return from;
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
    const Places places(lists);
    std::set<PipelineLink> links;
    for (std::size_t rank = 0; rank < lists.size(); ++rank)
        for (const PlannedAction& planned : messages_of(lists[rank], int(rank), places))
            if (planned.send)
                links.insert(planned.send->link);
    return {links.begin(), links.end()};
}

} // namespace fourfold::trainer
