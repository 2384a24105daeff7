// SPDX-License-Identifier: GPL-3.0-or-later
// A run's folder (plan.json, prediction.json, events.jsonl) as the document that import_run() takes.
#pragma once

#include "core/base/json.h"

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold::view {

Expected<Json> run_from_folder(const std::filesystem::path& folder);

// The files of the ranks' output in a run's folder, by rank.
struct RankLog {
    int rank = 0;
    std::filesystem::path file;
};
std::vector<RankLog> rank_logs(const std::filesystem::path& folder);
// The end of a text file, at most `bytes` of it and beginning at a line; empty when it cannot be read.
std::string tail_of(const std::filesystem::path& file, std::size_t bytes = 256 * 1024);

} // namespace fourfold::view
