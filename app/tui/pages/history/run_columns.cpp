// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/history/run_columns.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace fourfold::tui {

using view::RunsList;

namespace {
// With titles that are short enough for a terminal.
struct Shown {
    int column;
    const char* title;
};
constexpr Shown kShown[]{{RunsList::name, "Run"}, {RunsList::model, "Model"}, {RunsList::state, "State"},
    {RunsList::target, "Target"}, {RunsList::layout, "Layout"}, {RunsList::gpus, "GPUs"}, {RunsList::steps, "Steps"},
    {RunsList::predicted_tps, "Predicted"}, {RunsList::measured_tps, "TPS/GPU"}, {RunsList::tps_error, "Error"},
    {RunsList::predicted_memory, "Pred. GiB"}, {RunsList::measured_memory, "GiB"}, {RunsList::most_off, "Most off"},
    {RunsList::loss, "Loss"}, {RunsList::tags, "Tags"}, {RunsList::created, "Date"}};
static_assert(std::size(kShown) == RunsList::columns);

} // namespace

std::string run_title(int column)
{
    return std::ranges::find(kShown, column, &Shown::column)->title;
}

ColumnChoice run_columns()
{
    std::vector<int> columns;
    for (const Shown& shown : kShown)
        columns.push_back(shown.column);
    // These have no room in a terminal of the usual width.
    return {std::move(columns), RunsList::title,
        {RunsList::model, RunsList::target, RunsList::predicted_memory, RunsList::loss}};
}

} // namespace fourfold::tui
