// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/slurm/job_end.h"

#include "runner/agent/system/processes.h"

#include <algorithm>
#include <ctime>

namespace fourfold {

namespace {

// Seconds between two questions: slurmctld serves a whole cluster.
constexpr double kSoonest = 2, kLatest = 300, kUnanswered = 10;

} // namespace

bool JobEnd::is_near(double needed_s)
{
    if (!is_warned_)
        return false;
    const double now = monotonic_seconds();
    if (const auto job = question_.answer()) {
        const bool knows = job->answered && job->end_time > 0;
        const double spare = double(job->end_time - std::time(nullptr)) - needed_s;
        if (knows && spare <= 0)
            return true;
        ask_at_ = now + (knows ? std::clamp(spare / 2, kSoonest, kLatest) : kUnanswered);
    }
    if (!question_.is_open() && now >= ask_at_)
        question_.ask(job_);
    return false;
}

} // namespace fourfold
