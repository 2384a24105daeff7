// SPDX-License-Identifier: GPL-3.0-or-later
// Plans made from the rows of published tables, for tests that hold predictions to measurements.
#pragma once

#include "core/plan/plan.h"
#include "core/plan/presets.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fourfold::test {

struct PublishedRow {
    std::string source, table, row, status, metric, anomaly, notes;
    std::optional<double> value, step_time_s, memory_gib;
    Json plan; // a plan file; null where the row cannot be placed
    std::map<std::string, std::string> cells; // as printed, with the stand-ins of `assumed`
};

// Fields of one CSV line (RFC 4180 quotes).
std::vector<std::string> split_csv(const std::string& line);
std::vector<PublishedRow> read_published(const std::filesystem::path& csv, const Json& sources);

// Stacks and clusters never change while a test runs: read once.
Expected<ResolvedPlan> resolve_row(const PublishedRow& row, const Presets& presets);

// The folder of the tables, from the presets of the source tree.
std::filesystem::path published_folder();

} // namespace fourfold::test
