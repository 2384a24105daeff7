// SPDX-License-Identifier: GPL-3.0-or-later
// Adding and removing single tags, while other programs do the same.
#pragma once

#include "core/base/expected.h"

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold {

// The run's tags without `remove` and with `add`, in one transaction: what another program added meanwhile stays.
// Returns them. `run`: a whole id; tags as HistoryStore::set_tags() takes them.
Expected<std::vector<std::string>> change_tags(const std::filesystem::path& history, const std::string& run,
    const std::vector<std::string>& add, const std::vector<std::string>& remove);

} // namespace fourfold
