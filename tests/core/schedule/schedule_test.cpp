// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/schedules.h"
#include "tests/core/schedule/schedule_cases.h"

#include <gmock/gmock.h>

#include <map>
#include <optional>
#include <set>

namespace fourfold {
namespace {

TEST(Schedules, EveryMicroBatchPassesEveryChunkOnceForwardBeforeBackward)
{
    for (const Case& c : cases()) {
        SCOPED_TRACE(text(c));
        const auto actions = schedule_of(c);
        ASSERT_EQ(int(actions.size()), c.pp);
        std::set<Key> seen;
        int kinds = 0; // forwards and backwards
        for (int rank = 0; rank < c.pp; ++rank) {
            for (const Action& a : actions[std::size_t(rank)]) {
                EXPECT_EQ(home_of(c, a.chunk), rank);
                EXPECT_EQ(stage_of_chunk(c.schedule, c.pp, a.chunk), rank);
                const Work work = work_of(a.kind);
                if (work != Work::forward) {
                    EXPECT_TRUE(seen.contains({Work::forward, a.chunk, a.micro_batch}));
                }
                if (work == Work::weights) {
                    EXPECT_TRUE(seen.contains({Work::gradient, a.chunk, a.micro_batch}));
                }
                const bool split = c.pp > 1 && c.schedule >= Schedule::zb_h1;
                EXPECT_NE(a.kind, split ? ActionKind::backward : ActionKind::input_gradient);
                kinds += work == Work::weights ? 0 : 1;
                EXPECT_TRUE(seen.insert({work, a.chunk, a.micro_batch}).second) << "twice";
            }
        }
        const int each = c.pp * c.virtual_stages * c.micro_batches;
        EXPECT_EQ(kinds, 2 * each);
        EXPECT_EQ(int(seen.size()) - kinds, c.pp > 1 && c.schedule >= Schedule::zb_h1 ? each : 0);
    }
}

TEST(Schedules, OneForwardOneBackwardKeepsPpMinusStageMicroBatchesInFlight)
{
    for (int pp : {1, 2, 4, 8}) {
        for (int micro_batches : {1, 3, 8, 32}) {
            const auto actions = schedule_of({Schedule::one_f_one_b, pp, 1, micro_batches});
            for (int stage = 0; stage < pp; ++stage) {
                int alive = 0, most = 0;
                for (const Action& a : actions[std::size_t(stage)])
                    most = std::max(most, alive += a.kind == ActionKind::forward ? 1 : -1);
                EXPECT_EQ(most, std::min(micro_batches, pp - stage)) << "pp " << pp << " stage " << stage;
            }
        }
    }
}

TEST(Schedules, FirstActionsOfTheInterleavedScheduleAreThoseOfTheFigure)
{
    // Narayanan et al. 2021, figure 4 bottom: 4 devices, 2 chunks, device 1 starts with 1 2 3 4 of its first chunk,
    // then of its second, then 5 6 7 of its first before the first backward.
    const auto actions = schedule_of({Schedule::interleaved, 4, 2, 8});
    const auto& first = actions[0];
    const std::vector<std::pair<int, int>> expected{
        {0, 0}, {1, 0}, {2, 0}, {3, 0}, {0, 4}, {1, 4}, {2, 4}, {3, 4}, {4, 0}, {5, 0}, {6, 0}};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(first[i].kind, ActionKind::forward);
        EXPECT_EQ(first[i].micro_batch, expected[i].first) << i;
        EXPECT_EQ(first[i].chunk, expected[i].second) << i;
    }
    EXPECT_EQ(first[expected.size()].kind, ActionKind::backward);
}

// A rank posts the send of its output together with the receive of its next input and goes on when both have found
// their partner, as Megatron-LM's fused send-receive does. No buffer hides a wrong order.
TEST(Schedules, NoDeadlockUnderRendezvous)
{
    for (const Case& c : cases()) {
        if (c.schedule == Schedule::interleaved || c.schedule >= Schedule::zb_v)
            continue; // their sends cross each other and need one buffer a neighbour; see the simulation tests
        SCOPED_TRACE(text(c));
        const auto actions = schedule_of(c);
        const int chunks = c.pp * c.virtual_stages;
        std::map<Key, std::pair<int, std::size_t>> place; // rank and index of each action
        for (int rank = 0; rank < c.pp; ++rank)
            for (std::size_t i = 0; i < actions[std::size_t(rank)].size(); ++i) {
                const Action& a = actions[std::size_t(rank)][i];
                place[{work_of(a.kind), a.chunk, a.micro_batch}] = {rank, i};
            }
        std::vector<std::size_t> done(std::size_t(c.pp), 0);
        const auto consumer = [&](const Action& a) -> std::optional<Key> {
            const int to = work_of(a.kind) == Work::forward ? a.chunk + 1 : a.chunk - 1;
            if (work_of(a.kind) == Work::weights || to < 0 || to == chunks)
                return std::nullopt;
            return Key{work_of(a.kind), to, a.micro_batch};
        };
        const auto producer = [&](const Action& a) -> std::optional<Key> {
            const int from = work_of(a.kind) == Work::forward ? a.chunk - 1 : a.chunk + 1;
            if (work_of(a.kind) == Work::weights || from < 0 || from == chunks)
                return std::nullopt;
            return Key{work_of(a.kind), from, a.micro_batch};
        };
        bool moved = true;
        while (moved) {
            moved = false;
            for (int rank = 0; rank < c.pp; ++rank) {
                const auto& list = actions[std::size_t(rank)];
                std::size_t& i = done[std::size_t(rank)];
                if (i == list.size())
                    continue;
                if (i > 0) {
                    if (const auto to = consumer(list[i - 1]);
                        to && place[*to].first != rank && done[std::size_t(place[*to].first)] < place[*to].second)
                        continue; // nobody receives yet
                }
                if (const auto from = producer(list[i]);
                    from && place[*from].first != rank && done[std::size_t(place[*from].first)] <= place[*from].second)
                    continue; // nothing to receive yet
                ++i;
                moved = true;
            }
        }
        for (int rank = 0; rank < c.pp; ++rank)
            EXPECT_EQ(done[std::size_t(rank)], actions[std::size_t(rank)].size()) << "rank " << rank << " is stuck";
    }
}

TEST(Schedules, SaysWhatItDoesNotKnow)
{
    const auto file = make_schedule(Schedule::csv, 4, 1, 8);
    ASSERT_FALSE(file.has_value());
    EXPECT_EQ(file.error().code, ProblemCode::unsupported);
    EXPECT_THAT(file.error().message, testing::HasSubstr("in the file"));
    EXPECT_EQ(make_schedule(Schedule::zb_v, 4, 1, 8).error().where, "layout.virtual_stages");
    EXPECT_EQ(make_schedule(Schedule::zb_h1, 4, 2, 8).error().where, "layout.virtual_stages");
    EXPECT_EQ(make_schedule(Schedule::interleaved, 4, 2, 6).error().code, ProblemCode::bad_input);
    EXPECT_EQ(make_schedule(Schedule::one_f_one_b, 4, 2, 8).error().code, ProblemCode::bad_input);
    EXPECT_EQ(make_schedule(Schedule::gpipe, 0, 1, 8).error().code, ProblemCode::bad_input);
    EXPECT_EQ(make_schedule(Schedule::gpipe, 2, 1, 0).error().code, ProblemCode::bad_input);
}

} // namespace
} // namespace fourfold
