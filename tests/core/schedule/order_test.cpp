// SPDX-License-Identifier: GPL-3.0-or-later
// A schedule that is ordered once and timed again gives the times of the simulation.
#include "core/schedule/schedule_order.h"
#include "core/schedule/schedules.h"

#include <gtest/gtest.h>

#include <random>

namespace fourfold {
namespace {

struct OrderCase {
    Schedule schedule;
    int pp, virtual_stages, micro_batches;
};

class ScheduleOrders : public testing::TestWithParam<OrderCase> { };

TEST_P(ScheduleOrders, TimesAreThoseOfTheSimulation)
{
    const OrderCase& c = GetParam();
    const auto actions = make_schedule(c.schedule, c.pp, c.virtual_stages, c.micro_batches);
    ASSERT_TRUE(actions) << actions.error().line();
    const ScheduleOrder order(*actions, c.virtual_stages);
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> seconds(0.1, 2);
    for (int trial = 0; trial < 20; ++trial) {
        ScheduleTimes times;
        for (int chunk = 0; chunk < c.pp * c.virtual_stages; ++chunk) {
            const double backward = seconds(random);
            times.chunks.push_back({seconds(random), backward, 0.4 * backward});
        }
        times.send_receive_s = trial % 2 == 0 ? 0 : 0.3 * seconds(random);
        const Timeline timeline = simulate(*actions, times, c.virtual_stages);
        const ScheduleOrder::Ends ends = order.time(times);
        EXPECT_DOUBLE_EQ(ends.length_s, timeline.length_s);
        ASSERT_EQ(ends.stage_s.size(), std::size_t(c.pp));
        std::vector<double> last(std::size_t(c.pp), 0.0);
        for (const Span& span : timeline.spans)
            last[std::size_t(span.stage)] = std::max(last[std::size_t(span.stage)], span.end_s);
        for (std::size_t stage = 0; stage < last.size(); ++stage)
            EXPECT_DOUBLE_EQ(ends.stage_s[stage], last[stage]) << "stage " << stage;
    }
}

INSTANTIATE_TEST_SUITE_P(Schedules, ScheduleOrders,
    testing::Values(OrderCase{Schedule::gpipe, 4, 1, 6}, OrderCase{Schedule::one_f_one_b, 1, 1, 5},
        OrderCase{Schedule::one_f_one_b, 4, 1, 9}, OrderCase{Schedule::interleaved, 4, 3, 8},
        OrderCase{Schedule::zb_h1, 4, 1, 8}, OrderCase{Schedule::zb_v, 4, 2, 8}));

} // namespace
} // namespace fourfold
