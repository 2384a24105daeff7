// SPDX-License-Identifier: GPL-3.0-or-later
// Clears a node's base folder of what no run needs any more.
#pragma once

#include "core/base/json.h"

#include <filesystem>

namespace fourfold {

struct GarbageOrder {
    double older_than_s = 30 * 86400.0; // what was used later stays
    bool dry_run = false;
};

// Removes run folders whose shares on this node have ended and were followed to their end, or were never started; then
// files of the store that no remaining run folder links to, parts of uploads, and agents other than `own_agent`. A run
// that goes on, or whose events nobody has fetched yet, is never touched.
// {"runs", "files", "agents": counts, "bytes", "kept_runs"}.
Json collect_garbage(
    const std::filesystem::path& base, const GarbageOrder& order, const std::filesystem::path& own_agent);

} // namespace fourfold
