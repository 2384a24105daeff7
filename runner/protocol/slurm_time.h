// SPDX-License-Identifier: GPL-3.0-or-later
// Time limits as sbatch takes and sinfo prints them, and what is needed before them.
#pragma once

#include <optional>
#include <string>

namespace fourfold {

// Before a job's time limit: what the end of a run takes, beside the save of a checkpoint.
inline constexpr double kJobEndSeconds = 60;

// Seconds of minutes ("90"), minutes:seconds, hours:minutes:seconds, days-hours and so on ("2-12:30"); nothing for
// "infinite" and what is none of these.
std::optional<double> slurm_seconds(const std::string& time);

} // namespace fourfold
