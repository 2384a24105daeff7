// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/actions.h"
#include "core/schedule/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

namespace fourfold {
namespace {

struct Case {
    Schedule schedule;
    int pp, virtual_stages, micro_batches;
};

std::vector<Case> cases()
{
    std::vector<Case> list;
    for (int pp : {1, 2, 3, 4, 8}) {
        for (int micro_batches : {1, 2, 3, 4, 7, 8, 16, 24}) {
            list.push_back({Schedule::gpipe, pp, 1, micro_batches});
            list.push_back({Schedule::one_f_one_b, pp, 1, micro_batches});
            for (int v : {2, 3}) {
                if (pp > 1 && micro_batches % pp == 0)
                    list.push_back({Schedule::interleaved, pp, v, micro_batches});
            }
        }
    }
    return list;
}

std::vector<std::vector<Action>> schedule_of(const Case& c)
{
    auto actions = make_schedule(c.schedule, c.pp, c.virtual_stages, c.micro_batches);
    EXPECT_TRUE(actions.has_value()) << actions.error().line();
    return actions ? *actions : std::vector<std::vector<Action>>{};
}

std::string text(const Case& c)
{
    return to_text(c.schedule) + " pp " + std::to_string(c.pp) + " v " + std::to_string(c.virtual_stages) + " mb "
        + std::to_string(c.micro_batches);
}

using Key = std::tuple<bool, int, int>; // forward, chunk, micro-batch

// End times by longest paths over the dependency graph, relaxed until nothing changes: slow, and shares no code with
// simulate().
std::map<Key, double> longest_paths(
    const std::vector<std::vector<Action>>& actions, const ScheduleTimes& times, int chunks)
{
    std::map<Key, double> end;
    const auto pp = int(actions.size());
    for (bool changed = true; changed;) {
        changed = false;
        for (const auto& list : actions) {
            double previous = 0;
            for (const Action& a : list) {
                const bool forward = a.kind == ActionKind::forward;
                double start = previous;
                const auto after = [&](const Key& key, bool same_rank) {
                    const auto found = end.find(key);
                    if (found != end.end())
                        start = std::max(start, found->second + (same_rank || pp == 1 ? 0 : times.send_receive_s));
                };
                if (forward && a.chunk > 0)
                    after({true, a.chunk - 1, a.micro_batch}, false);
                if (!forward && a.chunk + 1 < chunks)
                    after({false, a.chunk + 1, a.micro_batch}, false);
                if (!forward)
                    after({true, a.chunk, a.micro_batch}, true);
                const ChunkTimes& cost = times.chunks[std::size_t(a.chunk)];
                const double finished = start + (forward ? cost.forward_s : cost.backward_s);
                double& known = end[{forward, a.chunk, a.micro_batch}];
                if (finished > known) {
                    known = finished;
                    changed = true;
                }
                previous = known;
            }
        }
    }
    return end;
}

ScheduleTimes equal_times(int chunks, double forward, double backward, double hop = 0)
{
    return {std::vector<ChunkTimes>(std::size_t(chunks), {forward, backward, 0}), hop};
}

TEST(Schedules, EveryMicroBatchPassesEveryChunkOnceForwardBeforeBackward)
{
    for (const Case& c : cases()) {
        SCOPED_TRACE(text(c));
        const auto actions = schedule_of(c);
        ASSERT_EQ(int(actions.size()), c.pp);
        std::set<Key> seen;
        for (int rank = 0; rank < c.pp; ++rank) {
            for (const Action& a : actions[std::size_t(rank)]) {
                EXPECT_EQ(a.chunk % c.pp, rank);
                const bool forward = a.kind == ActionKind::forward;
                if (!forward) {
                    EXPECT_TRUE(seen.contains({true, a.chunk, a.micro_batch}));
                }
                EXPECT_TRUE(seen.insert({forward, a.chunk, a.micro_batch}).second) << "twice";
            }
        }
        EXPECT_EQ(int(seen.size()), 2 * c.pp * c.virtual_stages * c.micro_batches);
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
        if (c.schedule == Schedule::interleaved)
            continue; // its sends wrap around the ring and need one buffer a neighbour; see the simulation tests
        SCOPED_TRACE(text(c));
        const auto actions = schedule_of(c);
        const int chunks = c.pp * c.virtual_stages;
        std::map<Key, std::pair<int, std::size_t>> place; // rank and index of each action
        for (int rank = 0; rank < c.pp; ++rank)
            for (std::size_t i = 0; i < actions[std::size_t(rank)].size(); ++i) {
                const Action& a = actions[std::size_t(rank)][i];
                place[{a.kind == ActionKind::forward, a.chunk, a.micro_batch}] = {rank, i};
            }
        std::vector<std::size_t> done(std::size_t(c.pp), 0);
        const auto consumer = [&](const Action& a) -> std::optional<Key> {
            if (a.kind == ActionKind::forward)
                return a.chunk + 1 < chunks ? std::optional<Key>({true, a.chunk + 1, a.micro_batch}) : std::nullopt;
            return a.chunk > 0 ? std::optional<Key>({false, a.chunk - 1, a.micro_batch}) : std::nullopt;
        };
        const auto producer = [&](const Action& a) -> std::optional<Key> {
            if (a.kind == ActionKind::forward)
                return a.chunk > 0 ? std::optional<Key>({true, a.chunk - 1, a.micro_batch}) : std::nullopt;
            return a.chunk + 1 < chunks ? std::optional<Key>({false, a.chunk + 1, a.micro_batch}) : std::nullopt;
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
    for (Schedule schedule : {Schedule::zb_h1, Schedule::zb_v, Schedule::csv}) {
        const auto actions = make_schedule(schedule, 4, schedule == Schedule::zb_v ? 2 : 1, 8);
        ASSERT_FALSE(actions.has_value());
        EXPECT_EQ(actions.error().code, ProblemCode::unsupported);
        EXPECT_THAT(actions.error().message, testing::HasSubstr(to_text(schedule)));
    }
    EXPECT_EQ(make_schedule(Schedule::interleaved, 4, 2, 6).error().code, ProblemCode::bad_input);
    EXPECT_EQ(make_schedule(Schedule::one_f_one_b, 4, 2, 8).error().code, ProblemCode::bad_input);
    EXPECT_EQ(make_schedule(Schedule::gpipe, 0, 1, 8).error().code, ProblemCode::bad_input);
    EXPECT_EQ(make_schedule(Schedule::gpipe, 2, 1, 0).error().code, ProblemCode::bad_input);
}

TEST(Simulation, AgreesWithLongestPathsOnRandomDurations)
{
    std::mt19937 random(7);
    std::uniform_real_distribution<double> seconds(0.1, 3.0);
    for (const Case& c : cases()) {
        if (c.micro_batches > 8)
            continue;
        SCOPED_TRACE(text(c));
        const int chunks = c.pp * c.virtual_stages;
        ScheduleTimes times;
        for (int i = 0; i < chunks; ++i)
            times.chunks.push_back({seconds(random), seconds(random), 0});
        times.send_receive_s = c.pp > 1 ? seconds(random) / 4 : 0;
        const auto actions = schedule_of(c);
        const Timeline timeline = simulate(actions, times, c.virtual_stages);
        const auto expected = longest_paths(actions, times, chunks);
        std::size_t compared = 0;
        for (const Span& span : timeline.spans) {
            if (span.kind == SpanKind::send_receive)
                continue;
            const Key key{span.kind == SpanKind::forward, span.chunk, span.micro_batch};
            ASSERT_TRUE(expected.contains(key));
            EXPECT_NEAR(span.end_s, expected.at(key), 1e-9);
            ++compared;
        }
        EXPECT_EQ(compared, expected.size());
    }
}

TEST(Simulation, SpansOfATrackFollowEachOther)
{
    for (const Case& c : cases()) {
        const Timeline timeline
            = simulate(schedule_of(c), equal_times(c.pp * c.virtual_stages, 1, 2, 0.3), c.virtual_stages);
        for (std::size_t i = 1; i < timeline.spans.size(); ++i) {
            const Span &before = timeline.spans[i - 1], &span = timeline.spans[i];
            EXPECT_LE(before.stage, span.stage);
            if (before.stage == span.stage) {
                EXPECT_GE(span.start_s, before.end_s - 1e-9) << text(c);
            }
        }
    }
}

// Idle share of equal stages: (p - 1) / (m + p - 1) for GPipe and 1F1B, (p - 1) / (v m + p - 1) interleaved.
TEST(Simulation, BubblesMatchTheirClosedForms)
{
    for (const Case& c : cases()) {
        if (c.schedule == Schedule::interleaved && c.micro_batches < c.pp)
            continue;
        SCOPED_TRACE(text(c));
        const double forward = 1.0 / c.virtual_stages, backward = 2.0 / c.virtual_stages;
        const Timeline timeline
            = simulate(schedule_of(c), equal_times(c.pp * c.virtual_stages, forward, backward), c.virtual_stages);
        const double busy = 3.0 * c.micro_batches;
        const double idle = 1 - busy / timeline.length_s;
        EXPECT_NEAR(idle, (c.pp - 1.0) / (double(c.virtual_stages) * c.micro_batches + c.pp - 1), 1e-9);
    }
}

// The lecture's rule of thumb p / (p + k) is this formula for many micro-batches.
TEST(Simulation, LectureIdleShareIsTheLimit)
{
    const int p = 16, k = 3 * p;
    const Timeline timeline = simulate(schedule_of({Schedule::gpipe, p, 1, k}), equal_times(p, 1, 2), 1);
    EXPECT_NEAR(1 - 3.0 * k / timeline.length_s, double(p) / (p + k), 0.02);
}

TEST(Simulation, HopsDelayButNeverSpeedUp)
{
    for (const Case& c : cases()) {
        const auto actions = schedule_of(c);
        double before = 0;
        for (double hop : {0.0, 0.1, 0.5, 2.0}) {
            const double length
                = simulate(actions, equal_times(c.pp * c.virtual_stages, 1, 2, hop), c.virtual_stages).length_s;
            EXPECT_GE(length, before - 1e-9) << text(c);
            before = length;
        }
    }
}

} // namespace
} // namespace fourfold
