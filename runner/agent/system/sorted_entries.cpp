// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/system/sorted_entries.h"

#include <algorithm>

namespace fourfold {

std::vector<std::filesystem::path> sorted_entries(const std::filesystem::path& folder)
{
    std::vector<std::filesystem::path> out;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
        out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
}

} // namespace fourfold
