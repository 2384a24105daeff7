// SPDX-License-Identifier: GPL-3.0-or-later
// The plans of some files instead of those that are open, whichever front end has the tabs.
#pragma once

#include "core/base/expected.h"

#include <filesystem>
#include <functional>
#include <vector>

namespace fourfold::view {

// The tabs of a front end, by their places from the left.
struct PlanPlaces {
    std::function<int()> count;
    std::function<std::filesystem::path(int place)> file; // empty: untitled
    std::function<bool(int place)> is_dirty;
    std::function<bool(int place)> is_unused; // untitled and never edited
    std::function<void(int place)> close; // without asking; of the only one an empty one stays
    std::function<int(const std::filesystem::path& file)> index_of; // -1: not open
    // The file's plan, in the tab of that place or (-1) in one that nobody would miss or a new one; that one is current
    // then.
    std::function<Expected<void>(int place, const std::filesystem::path& file)> open;
    std::function<void(int from, int to)> move;
    std::function<void(int place)> show;
};

// In the order of `files`; one that is open already stays, as its file has it. With `keeps_changes` tabs with unsaved
// changes stay as they are, also those that are not meant. Returns why files could not be opened, a Problem each.
std::vector<Problem> open_instead(
    const PlanPlaces& tabs, const std::vector<std::filesystem::path>& files, bool keeps_changes = false);

} // namespace fourfold::view
