// SPDX-License-Identifier: GPL-3.0-or-later
// Which rank the others wait for, from what every rank was last seen doing. Used by the agent for the ranks of its node
// and by the client for all of them.
#pragma once

#include "core/base/json.h"

#include <string>

namespace fourfold {

// `ranks`: {"rank", "host", "coordinates", "process" (state letter), "number", "group_number", "inside", "since_s",
// "operation", "group"} each. One sentence that names the straggler, or says why none can be named; empty without
// ranks.
std::string name_straggler(const Json& ranks);

// Mesh coordinates of a rank for messages: "tp 0, cp 0, pp 1, dp 0".
std::string describe(const Json& coordinates);

} // namespace fourfold
