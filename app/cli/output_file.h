// SPDX-License-Identifier: GPL-3.0-or-later
// Files that a command writes because the user named them.
#pragma once

#include "core/base/expected.h"

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold::cli {

// Refused where it would replace the history or what the command reads; names that are no files (ids of presets) are
// passed over.
Expected<void> check_output(const std::string& output, const std::vector<std::string>& inputs);

// Refused where the name ends as files of another kind do (a page in "x.json"); what has no such ending is fine.
Expected<void> check_ending(
    const std::string& output, const std::string& what, const std::vector<std::string>& own_endings);

// Refused where a file is there with another content: somebody may have changed it since it was written.
Expected<void> check_same(const std::filesystem::path& file, const std::string& content, const std::string& cure);

} // namespace fourfold::cli
