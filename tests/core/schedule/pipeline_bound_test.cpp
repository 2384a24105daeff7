// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/pipeline_bound.h"
#include "core/schedule/schedules.h"
#include "tests/core/schedule/schedule_cases.h"

#include <random>

namespace fourfold {
namespace {

std::vector<double> simulated_ends(const Case& c, const ScheduleTimes& times)
{
    const Timeline timeline = simulate(schedule_of(c), times, c.virtual_stages);
    std::vector<double> ends(std::size_t(c.pp), 0);
    for (const Span& span : timeline.spans)
        ends[std::size_t(span.stage)] = std::max(ends[std::size_t(span.stage)], span.end_s);
    return ends;
}

// Every stage as a run of its own.
std::vector<double> least(const Case& c, const ScheduleTimes& times)
{
    const int chunks = c.pp * c.virtual_stages;
    const auto home = [&](int chunk) { return stage_of_chunk(c.schedule, c.pp, chunk); };
    std::vector<BoundRun> runs(std::size_t(c.pp));
    for (int chunk = chunks - 1; chunk >= 0; --chunk) {
        const ChunkTimes& time = times.chunks[std::size_t(chunk)];
        BoundRun& run = runs[std::size_t(home(chunk))];
        const double forward
            = time.forward_s + (chunk > 0 && home(chunk - 1) != home(chunk) ? times.send_receive_s : 0);
        const double backward
            = time.backward_s + (chunk + 1 < chunks && home(chunk + 1) != home(chunk) ? times.send_receive_s : 0);
        run.busy_s += forward + backward;
        run.forward_s = forward;
        run.backward_s = backward;
    }
    std::vector<double> ends;
    bound_ends(runs, c.micro_batches, c.schedule == Schedule::one_f_one_b || c.schedule == Schedule::interleaved, ends);
    return ends;
}

TEST(PipelineBound, IsNeverAboveTheSimulation)
{
    std::mt19937 random(11);
    const auto uniform = [&](double from, double to) { return std::uniform_real_distribution(from, to)(random); };
    for (const Case& c : cases()) {
        for (int round = 0; round < 6; ++round) {
            ScheduleTimes times;
            times.send_receive_s = round % 2 == 0 ? 0 : uniform(0, 0.5);
            for (int chunk = 0; chunk < c.pp * c.virtual_stages; ++chunk) {
                const double backward = uniform(1, round < 3 ? 1.2 : 5);
                times.chunks.push_back({uniform(1, round < 3 ? 1.1 : 4), backward, backward * uniform(0.1, 0.6)});
            }
            const std::vector<double> bound = least(c, times), ends = simulated_ends(c, times);
            for (std::size_t stage = 0; stage < ends.size(); ++stage)
                ASSERT_LE(bound[stage], ends[stage] * (1 + 1e-12))
                    << to_text(c.schedule) << " pp " << c.pp << " chunks " << c.virtual_stages << " micro-batches "
                    << c.micro_batches << " stage " << stage;
        }
    }
}

TEST(PipelineBound, IsReachedByEqualChunksWithoutHops)
{
    for (const Case& c : cases()) {
        if (c.schedule != Schedule::one_f_one_b && c.schedule != Schedule::interleaved)
            continue;
        ScheduleTimes times;
        times.chunks.assign(std::size_t(c.pp * c.virtual_stages), {1, 2, 0});
        EXPECT_NEAR(least(c, times).front(), simulated_ends(c, times).front(), 1e-9)
            << to_text(c.schedule) << " pp " << c.pp << " micro-batches " << c.micro_batches;
    }
}

} // namespace
} // namespace fourfold
