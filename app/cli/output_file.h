// SPDX-License-Identifier: GPL-3.0-or-later
// Files that a command writes because the user named them.
#pragma once

#include "core/base/expected.h"

#include <string>
#include <vector>

namespace fourfold::cli {

// Refused where it would replace the history or what the command reads; names that are no files (ids of presets) are
// passed over.
Expected<void> check_output(const std::string& output, const std::vector<std::string>& inputs);

} // namespace fourfold::cli
