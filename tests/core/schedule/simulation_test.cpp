// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/schedule/schedule_cases.h"

#include <map>
#include <random>

namespace fourfold {
namespace {

// End times by longest paths over the dependency graph, relaxed until nothing changes: slow, and shares no code with
// simulate().
std::map<Key, double> longest_paths(
    const Case& c, const std::vector<std::vector<Action>>& actions, const ScheduleTimes& times, int chunks)
{
    std::map<Key, double> end;
    for (bool changed = true; changed;) {
        changed = false;
        for (const auto& list : actions) {
            double previous = 0;
            for (const Action& a : list) {
                const Work work = work_of(a.kind);
                double start = previous, received = 0;
                const auto after = [&](const Key& key, bool same_rank) {
                    const auto found = end.find(key);
                    if (found != end.end())
                        start = std::max(start, found->second);
                    if (!same_rank)
                        received = times.send_receive_s; // the rank receives before it computes
                };
                if (work == Work::forward && a.chunk > 0)
                    after({work, a.chunk - 1, a.micro_batch}, home_of(c, a.chunk - 1) == home_of(c, a.chunk));
                if (work == Work::gradient && a.chunk + 1 < chunks)
                    after({work, a.chunk + 1, a.micro_batch}, home_of(c, a.chunk + 1) == home_of(c, a.chunk));
                if (work == Work::gradient)
                    after({Work::forward, a.chunk, a.micro_batch}, true);
                if (work == Work::weights)
                    after({Work::gradient, a.chunk, a.micro_batch}, true);
                const ChunkTimes& cost = times.chunks[std::size_t(a.chunk)];
                const double gradient
                    = cost.backward_s - (a.kind == ActionKind::input_gradient ? cost.weight_gradient_s : 0);
                const double finished = start + received
                    + (work == Work::forward        ? cost.forward_s
                            : work == Work::weights ? cost.weight_gradient_s
                                                    : gradient);
                double& known = end[{work, a.chunk, a.micro_batch}];
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

TEST(Simulation, AgreesWithLongestPathsOnRandomDurations)
{
    std::mt19937 random(7);
    std::uniform_real_distribution<double> seconds(0.1, 3.0);
    for (const Case& c : cases()) {
        if (c.micro_batches > 8 || c.pp * c.micro_batches > 32)
            continue;
        SCOPED_TRACE(text(c));
        const int chunks = c.pp * c.virtual_stages;
        ScheduleTimes times;
        for (int i = 0; i < chunks; ++i)
            times.chunks.push_back({seconds(random), 1.2 + seconds(random), seconds(random) / 3});
        times.send_receive_s = c.pp > 1 ? seconds(random) / 4 : 0;
        const auto actions = schedule_of(c);
        const Timeline timeline = simulate(actions, times, c.virtual_stages);
        const auto expected = longest_paths(c, actions, times, chunks);
        std::size_t compared = 0;
        for (const Span& span : timeline.spans) {
            if (span.kind == SpanKind::send_receive)
                continue;
            const Work work = span.kind == SpanKind::forward ? Work::forward
                : span.kind == SpanKind::weight_gradient     ? Work::weights
                                                             : Work::gradient;
            const Key key{work, span.chunk, span.micro_batch};
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
