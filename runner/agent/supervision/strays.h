// SPDX-License-Identifier: GPL-3.0-or-later
// What lives on this node without a run.
#pragma once

#include "core/base/json.h"

#include <filesystem>

namespace fourfold {

// The processes of runs in this base folder whose run folder is gone or cannot be read, or whose run has ended or has
// lost its agent; with `end` those are ended, but for the ones that only cannot be read. One object per run and node:
// {"run", "node", "processes": how many, "pid": the first, "why", "ended": whether they were ended}.
Json strays(const std::filesystem::path& base, bool end);

} // namespace fourfold
