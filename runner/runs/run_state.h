// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runner/runs/run.h"

namespace fourfold {

// The state of that name; `fail` for a name that is none, as an unknown end is no success.
RunState run_state(std::string_view name);

} // namespace fourfold
