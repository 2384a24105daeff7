// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/plan/open_instead.h"

#include "app/view/plan/plan_state.h"

#include <algorithm>

namespace fourfold::view {

std::vector<Problem> open_instead(
    const PlanPlaces& tabs, const std::vector<std::filesystem::path>& files, bool keeps_changes)
{
    const auto is_meant = [&](int place) {
        const std::filesystem::path open = tabs.file(place);
        std::error_code error;
        return (keeps_changes && tabs.is_dirty(place))
            || (!open.empty() && std::ranges::any_of(files, [&](const std::filesystem::path& file) {
                   return std::filesystem::equivalent(file, open, error);
               }));
    };
    for (int i = tabs.count() - 1; i >= 0; --i) {
        if (!is_meant(i) && (tabs.count() > 1 || !tabs.is_unused(i))) // the first file takes its place
            tabs.close(i);
    }
    std::vector<Problem> problems;
    int place = 0;
    for (const std::filesystem::path& file : files) {
        int index = tabs.index_of(file);
        if (index < 0 || (tabs.is_dirty(index) && !keeps_changes)) {
            if (Expected<Plan> readable = read_plan_file(file); !readable) { // an unusable file leaves no tab
                problems.push_back(std::move(readable).error());
                continue;
            }
            if (Expected<void> opened = tabs.open(index, file); !opened) {
                problems.push_back(std::move(opened).error());
                continue;
            }
            index = tabs.index_of(file);
        }
        tabs.move(index, place);
        tabs.show(place++);
    }
    tabs.show(0);
    return problems;
}

} // namespace fourfold::view
