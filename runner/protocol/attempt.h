// SPDX-License-Identifier: GPL-3.0-or-later
// A preempted Slurm job that is queued again: each attempt is a run of its own, "<run>A1", "<run>A2" ..., which goes on
// from where the one before has saved.
#pragma once

#include <filesystem>
#include <string>

namespace fourfold {

struct Attempt {
    std::string run; // id of the first attempt, a ULID
    int number = 0; // 0 = the first
};

// The id under which client and agent store an attempt.
std::string attempt_id(const Attempt& attempt);
// The other way; an id that is no further attempt's is a first attempt.
Attempt attempt_of(const std::string& id);

// The newest checkpoint that a run told of, on its nodes; empty: there is none. `folder`: that of its events.
std::string newest_checkpoint(const std::filesystem::path& folder);

} // namespace fourfold
