// SPDX-License-Identifier: GPL-3.0-or-later
// What is compared, as sessions and projects keep it: where entries come from, which open plans are in it, the
// reference.
#pragma once

#include "core/base/json.h"
#include "core/plan/plan.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace fourfold::view {

// Where an entry comes from, as a text by which it is made again: "run:ID" of the history, "row:LINE:FILE" of a
// measured table, "plan:JSON" of a layout.
std::string origin_of_run(const std::string& id);
std::string origin_of_row(const std::filesystem::path& table, int line);
std::string origin_of_layout(const ResolvedPlan& plan);

struct Origin {
    enum class Kind { none, run, row, layout } kind = Kind::none;
    std::string text; // id of the run, JSON of the layout
    std::filesystem::path table; // of a row
    int line = 0;
};
Origin read_origin(const std::string& origin);

// What a table measured of a job, over GPUs.
struct SeriesOrigin {
    std::filesystem::path table;
    std::string job; // TableJob::name
    bool operator==(const SeriesOrigin&) const = default;
};

struct KeptComparison {
    std::vector<std::string> entries; // origins
    std::vector<SeriesOrigin> series;
    // Of the open plans those that have a file: the ones that are not in it, or, of a comparison with a name, the ones
    // that are.
    std::vector<std::filesystem::path> left_out;
    std::optional<std::vector<std::filesystem::path>> plans;
    std::string reference; // an origin, or a plan's title; empty: the first
    bool differences_only = false;
    bool operator==(const KeptComparison&) const = default;
};
// With files relative to `folder` (portable_path()), and back. What cannot be used is left out.
Json to_json(const KeptComparison& comparison, const std::filesystem::path& folder);
KeptComparison kept_comparison(const Json& json, const std::filesystem::path& folder);

} // namespace fourfold::view
