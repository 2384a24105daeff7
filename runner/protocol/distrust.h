// SPDX-License-Identifier: GPL-3.0-or-later
// Why nothing is run from a place, in words that the first contact's command (runner/ssh/bootstrap.cpp) and the agent
// (runner/agent/system/trusted_path.h) share.
#pragma once

#include "core/base/problem.h"

#include <string>
#include <string_view>

namespace fourfold {

// `why`: "owner" (another user's), "group" or "others" (they may write it), "kind" (no folder).
Problem distrust(std::string_view why, const std::string& place);

} // namespace fourfold
