// SPDX-License-Identifier: GPL-3.0-or-later
// The simulation that keeps neither lists nor spans finds the times of the one that keeps both, to the last bit.
#include "core/schedule/rolling_schedule.h"
#include "schedule_cases.h"

#include <random>

namespace fourfold {
namespace {

TEST(RollingSchedule, TimesAreThoseOfTheKeptOrder)
{
    std::vector<Case> list = cases();
    // Longer than a link has room for at first, where stages run far ahead of each other and where they cannot.
    for (const Schedule schedule : {Schedule::gpipe, Schedule::one_f_one_b, Schedule::zb_h1})
        list.push_back({schedule, 5, 1, 400});
    list.push_back({Schedule::interleaved, 6, 4, 120});
    list.push_back({Schedule::interleaved, 80, 2, 160});
    list.push_back({Schedule::zb_v, 70, 2, 150});
    list.push_back({Schedule::one_f_one_b, 90, 1, 200});
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> seconds(0.1, 2);
    for (const Case& c : list) {
        const ScheduleShape shape{c.schedule, c.pp, c.virtual_stages, c.micro_batches};
        const ScheduleOrder order(schedule_of(c), c.virtual_stages);
        ScheduleTimes times;
        for (int chunk = 0; chunk < c.pp * c.virtual_stages; ++chunk) {
            const double backward = seconds(random);
            times.chunks.push_back({seconds(random), backward, 0.4 * backward});
        }
        times.send_receive_s = 0.3 * seconds(random);
        ScheduleOrder::Workspace workspace;
        ScheduleOrder::Ends kept;
        double kept_without = 0, without = 0;
        order.time(times, workspace, kept, &kept_without);
        const ScheduleOrder::Ends rolling = rolling_ends(shape, times, &without);
        EXPECT_EQ(rolling.length_s, kept.length_s) << text(c);
        EXPECT_EQ(rolling.stage_s, kept.stage_s) << text(c);
        EXPECT_EQ(without, kept_without) << text(c);
    }
}

} // namespace
} // namespace fourfold
