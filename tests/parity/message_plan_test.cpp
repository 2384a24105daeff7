// SPDX-License-Identifier: GPL-3.0-or-later
// The messages of every schedule: each sent one is received, and on every wire in the order in which it was sent, which
// is all that NCCL goes by.
#include "runner/trainer/pipeline_parallel/message_plan.h"

#include "core/schedule/rank_actions.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>

namespace fourfold::trainer {
namespace {

struct Pipeline {
    Schedule schedule;
    int pp, virtual_stages, micro_batches;
};
void PrintTo(const Pipeline& p, std::ostream* out)
{
    *out << to_text(p.schedule) << " pp " << p.pp << " v " << p.virtual_stages << " m " << p.micro_batches;
}

class Messages : public ::testing::TestWithParam<Pipeline> {
protected:
    // From the generator itself, which knows more chunks than a plan may have (GPipe).
    std::vector<std::vector<Action>> lists = [] {
        std::vector<std::vector<Action>> lists;
        const Pipeline& p = GetParam();
        for (int rank = 0; rank < p.pp; ++rank)
            lists.push_back(RankActions({p.schedule, p.pp, p.virtual_stages, p.micro_batches}, rank).list());
        return lists;
    }();
    // Between this chunk and the one before; at the foot of a V both are on one rank.
    static bool is_border(int chunk)
    {
        const auto home = [](int c) { return stage_of_chunk(GetParam().schedule, GetParam().pp, c); };
        return home(chunk) != home(chunk - 1);
    }
};

TEST_P(Messages, ArriveInTheOrderOfSendingOnEveryWire)
{
    using Wire = std::tuple<int, int, bool>; // from, to, activations
    std::map<Wire, std::vector<int>> sent, received; // tags
    for (int rank = 0; rank < GetParam().pp; ++rank)
        for (const PlannedAction& planned : plan_messages(lists, rank)) {
            const bool forward = is_forward(planned.action);
            if (planned.send)
                sent[{rank, planned.send->peer, forward}].push_back(planned.send->tag);
            if (planned.receive)
                received[{planned.receive->peer, rank, forward}].push_back(planned.receive->tag);
        }
    EXPECT_EQ(sent, received);
    // Every border between chunks on different ranks is crossed by every micro-batch, forward and backward.
    int borders = 0;
    for (int chunk = 1; chunk < GetParam().pp * GetParam().virtual_stages; ++chunk)
        borders += is_border(chunk);
    std::size_t messages = 0;
    for (const auto& [wire, tags] : sent)
        messages += tags.size();
    EXPECT_EQ(messages, std::size_t(2 * borders * GetParam().micro_batches));
}

// The peer's place in its list is that of the action on the other side of the border.
TEST_P(Messages, NameTheActionOnTheOtherSide)
{
    for (int rank = 0; rank < GetParam().pp; ++rank)
        for (const PlannedAction& planned : plan_messages(lists, rank)) {
            const int step = is_forward(planned.action) ? 1 : -1;
            const auto check = [&](const std::optional<Message>& message, int chunk) {
                if (!message)
                    return;
                const Action expected{planned.action.kind, planned.action.micro_batch, chunk};
                EXPECT_EQ(lists.at(std::size_t(message->peer)).at(message->peer_action), expected);
            };
            check(planned.send, planned.action.chunk + step);
            check(planned.receive, planned.action.chunk - step);
        }
}

// How many actions of `rank` begin if those of `late` stop before one of its own.
std::size_t begun_without(
    const std::vector<std::vector<Action>>& lists, std::size_t rank, std::size_t late, std::size_t action)
{
    std::vector<std::vector<PlannedAction>> plans;
    for (std::size_t r = 0; r < lists.size(); ++r)
        plans.push_back(plan_messages(lists, int(r)));
    std::vector<std::size_t> begun(lists.size(), 0);
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t r = 0; r < lists.size(); ++r)
            while (begun[r] < lists[r].size() && !(r == late && begun[r] == action)) {
                const auto& from = plans[r][begun[r]].receive;
                if (from && begun[std::size_t(from->peer)] <= from->peer_action)
                    break;
                ++begun[r];
                moved = true;
            }
    }
    return begun[rank];
}

// A message has arrived when its receiver begins the action that takes it. That is known where no action could begin
// before it, and not one action earlier.
TEST_P(Messages, AreKnownToHaveArrivedWhereNothingGoesOnWithoutThem)
{
    for (int rank = 0; rank < GetParam().pp; ++rank) {
        const auto plan = plan_messages(lists, rank);
        const auto known = known_to_have_arrived(lists, rank);
        ASSERT_EQ(known.size(), plan.size());
        for (std::size_t i = 0; i < plan.size(); ++i) {
            const auto& sent = plan[i].send;
            const std::size_t expected = sent
                ? begun_without(lists, std::size_t(rank), std::size_t(sent->peer), sent->peer_action)
                : plan.size();
            EXPECT_EQ(known[i], expected) << "rank " << rank << " action " << i;
        }
    }
}

// Round a ring of stages an activation comes back as that of the chunk after: long before its gradient does.
TEST(KnownArrivals, NeedNoGradient)
{
    const auto lists = *make_schedule(Schedule::interleaved, 4, 3, 8);
    const auto known = known_to_have_arrived(lists, 0);
    const auto place
        = [&](const Action& wanted) { return std::size_t(std::ranges::find(lists[0], wanted) - lists[0].begin()); };
    using enum ActionKind;
    EXPECT_EQ(known[place({forward, 0, 0})], place({forward, 0, 4}));
    // Of the last forward nothing comes back but gradients.
    EXPECT_EQ(lists[0][known[place({forward, 7, 8})]].kind, backward);
}

TEST_P(Messages, AnEvaluationHasTheForwardsAlone)
{
    const auto forwards = forwards_only(lists);
    for (int rank = 0; rank < GetParam().pp; ++rank) {
        EXPECT_EQ(
            forwards[std::size_t(rank)].size(), std::size_t(GetParam().virtual_stages * GetParam().micro_batches));
        for (const PlannedAction& planned : plan_messages(forwards, rank)) {
            EXPECT_EQ(planned.action.kind, ActionKind::forward);
            EXPECT_EQ(planned.receive.has_value(), planned.action.chunk > 0 && is_border(planned.action.chunk));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Schedules, Messages,
    ::testing::Values(Pipeline{Schedule::one_f_one_b, 1, 1, 3}, Pipeline{Schedule::one_f_one_b, 2, 1, 5},
        Pipeline{Schedule::one_f_one_b, 4, 1, 2}, Pipeline{Schedule::one_f_one_b, 8, 1, 16},
        Pipeline{Schedule::gpipe, 4, 1, 6}, Pipeline{Schedule::gpipe, 2, 2, 3},
        Pipeline{Schedule::interleaved, 2, 2, 4}, Pipeline{Schedule::interleaved, 4, 3, 8},
        Pipeline{Schedule::zb_h1, 4, 1, 8}, Pipeline{Schedule::zb_v, 4, 2, 8},
        Pipeline{Schedule::dualpipe_v, 4, 2, 8}));

// Of a rank, the forwards that run beside the backward behind them, as "micro-batch/chunk|micro-batch/chunk".
std::vector<std::string> pairs(const std::vector<std::vector<Action>>& lists, std::size_t rank)
{
    const std::vector<bool> beside = pair_passes(lists).at(rank);
    std::vector<std::string> pairs;
    const auto words
        = [](const Action& action) { return std::to_string(action.micro_batch) + "/" + std::to_string(action.chunk); };
    for (std::size_t i = 0; i < beside.size(); ++i)
        if (beside[i])
            pairs.push_back(words(lists[rank][i]) + "|" + words(lists[rank].at(i + 1)));
    return pairs;
}

TEST(Pairs, OfOneStageAreTheNextForwardAndABackward)
{
    EXPECT_EQ(pairs(*make_schedule({Schedule::one_f_one_b, 1, 1, 4, 1}), 0),
        (std::vector<std::string>{"1/0|0/0", "2/0|1/0", "3/0|2/0"}));
    EXPECT_EQ(pairs(*make_schedule({Schedule::one_f_one_b, 1, 1, 1, 1}), 0), std::vector<std::string>{});
    // Without one ahead each backward is that of the forward before it.
    EXPECT_EQ(pairs(*make_schedule(Schedule::one_f_one_b, 1, 1, 4), 0), std::vector<std::string>{});
}

// Steps 4 and 5 of dualpipev.py (deepseek-ai/DualPipe) call _forward_backward_chunk so often; the last rank's first
// they leave apart, to shorten the bubble.
TEST(Pairs, OfDualPipeVAreThoseOfItsAuthors)
{
    for (const int pp : {2, 3, 4, 6})
        for (const int micro_batches : {2 * pp, 2 * pp + 3}) {
            const auto lists = *make_schedule(Schedule::dualpipe_v, pp, 2, micro_batches);
            for (int rank = 0; rank < pp; ++rank) {
                const auto found = pairs(lists, std::size_t(rank));
                const std::size_t theirs = std::size_t(2 * (micro_batches - 2 * pp + rank + 1) + pp - rank - 1);
                EXPECT_EQ(found.size(), theirs) << "pp " << pp << " m " << micro_batches << " rank " << rank;
            }
        }
}

// Were all of 1F1B's neighbours paired, a stage would wait for a gradient that its own forward has yet to lead to.
TEST(Pairs, NeverWaitForEachOther)
{
    for (const auto& [schedule, chunks] : {std::pair(Schedule::one_f_one_b, 1), {Schedule::interleaved, 2},
             {Schedule::zb_h1, 1}, {Schedule::zb_v, 2}, {Schedule::dualpipe_v, 2}}) {
        const auto lists = *make_schedule(schedule, 4, chunks, 12);
        const auto beside = pair_passes(lists);
        // Each rank's next action or pair runs when what it needs from others is there, however long that takes.
        std::vector<std::size_t> at(lists.size(), 0);
        std::map<std::tuple<bool, int, int>, bool> made;
        std::size_t left = 0;
        for (const auto& list : lists)
            left += list.size();
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t rank = 0; rank < lists.size(); ++rank) {
                if (at[rank] == lists[rank].size())
                    continue;
                const std::size_t count = beside[rank][at[rank]] ? 2 : 1;
                bool ready = true;
                for (std::size_t i = at[rank]; i < at[rank] + count; ++i) {
                    const Action& a = lists[rank][i];
                    const int from = a.chunk + (is_forward(a) ? -1 : 1);
                    if (a.kind != ActionKind::weight_gradient && from >= 0 && from < 4 * chunks)
                        ready = ready && made.contains({is_forward(a), from, a.micro_batch});
                }
                if (!ready)
                    continue;
                for (std::size_t i = 0; i < count; ++i, ++at[rank], --left) {
                    const Action& a = lists[rank][at[rank]];
                    if (a.kind != ActionKind::weight_gradient)
                        made[{is_forward(a), a.chunk, a.micro_batch}] = true;
                }
                moved = true;
            }
        }
        EXPECT_EQ(left, 0u) << to_text(schedule);
    }
}

// A file may give one chunk a whole backward where its neighbour parts it: the gradient goes between them all the same.
TEST(MixedBackwards, PassTheirGradients)
{
    using enum ActionKind;
    const std::vector<std::vector<Action>> lists{
        {{forward, 0, 0}, {input_gradient, 0, 0}, {weight_gradient, 0, 0}}, {{forward, 0, 1}, {backward, 0, 1}}};
    const auto first = plan_messages(lists, 0), second = plan_messages(lists, 1);
    ASSERT_TRUE(first[1].receive.has_value() && second[1].send.has_value());
    EXPECT_EQ(first[1].receive->peer_action, 1u);
    EXPECT_EQ(second[1].send->peer_action, 1u);
    EXPECT_EQ(first[1].receive->link, second[1].send->link);
    EXPECT_FALSE(first[2].receive.has_value() || first[2].send.has_value());
}

} // namespace
} // namespace fourfold::trainer
