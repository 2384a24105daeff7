// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"
#include "runner/agent/ranks/prelude.h"

#include <string>

namespace fourfold {

// What stands in the way of ranks in a container, as findings (node_checks.h): the program that runs it, which a
// `prelude` may still bring, and an image that is a file.
Json container_findings(const std::string& image, bool prelude, const Environment& environment);

} // namespace fourfold
