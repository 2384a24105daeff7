// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <vector>

namespace fourfold {

// What lies in a folder, by name. Empty where it cannot be read; what can be read before an error is there.
std::vector<std::filesystem::path> sorted_entries(const std::filesystem::path& folder);

} // namespace fourfold
