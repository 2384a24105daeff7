// SPDX-License-Identifier: GPL-3.0-or-later
// What the ranks of this node are doing right now: last collective, process state, stacks.
#pragma once

#include "core/base/json.h"
#include "runner/protocol/progress_page.h"
#include "runner/protocol/run_spec.h"

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>

namespace fourfold {

std::filesystem::path progress_file(const std::filesystem::path& folder, int rank);
// The progress page of a rank; nothing when it has none or is just writing it.
std::optional<RankProgress> read_progress(const std::filesystem::path& folder, int rank);
// What a rank put there about its failure; nothing when it did not.
std::optional<RankFailure> read_failure(const std::filesystem::path& folder, int rank);

// "all_reduce of 64 bytes in group dp (ranks 0 2) (operation 7, begun 12 ms before)", of a rank that ended just now.
std::string last_collective(const RankProgress& progress);

// Bytes that a process has read and written so far; 0 when the kernel does not say.
uint64_t bytes_moved(pid_t pid);

// One object per rank, as name_straggler() takes it, with "threads" [{"name", "state", "waits_in"}] and "stack" (text).
// The stack comes from the rank itself, asked by SIGUSR1 if it has a handler for it; waits at most half a second for
// all.
Json diagnose(const RunSpec& spec, const std::filesystem::path& folder, const std::map<pid_t, RankPlace>& running);

} // namespace fourfold
