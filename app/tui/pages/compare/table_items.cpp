// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/compare/table_items.h"

#include "core/calibration/measured_table.h"
#include "core/calibration/score_card.h"

namespace fourfold::tui {

std::vector<Picker::Item> table_items(Desk& desk, const std::function<void(const std::filesystem::path&)>& take)
{
    const auto ask = [&desk, take] {
        desk.ask_for_path("A measured table", "A CSV file with the columns of the published ones",
            [take](const std::filesystem::path& file) {
                take(file);
                return std::string();
            });
    };
    std::vector<Picker::Item> items;
    for (const std::filesystem::path& table : measured_tables_in("."))
        items.push_back({table.filename().string(), "in this folder", [take, table] { take(table); }});
    for (const std::filesystem::path& table : published_tables())
        items.push_back({table.stem().string(), "published", [take, table] { take(table); }});
    items.push_back({"A file of your own...", "type its name", ask});
    return items;
}

} // namespace fourfold::tui
