// SPDX-License-Identifier: GPL-3.0-or-later
// The times of a schedule of any length without its lists and spans: what core/schedule/schedule_order.h finds, bit for
// bit, in memory that grows with the stages alone.
#pragma once

#include "core/schedule/schedule_order.h"
#include "core/schedule/schedules.h"

namespace fourfold {

// Time of the order of the schedule's passes. `length_without_hops`: as in ScheduleOrder::time().
// Precondition: check_schedule() takes the shape, and `times` has its chunks.
ScheduleOrder::Ends rolling_ends(
    const ScheduleShape& shape, const ScheduleTimes& times, double* length_without_hops = nullptr);

} // namespace fourfold
