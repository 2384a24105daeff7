// SPDX-License-Identifier: GPL-3.0-or-later
// Which columns of a table are on show, and in which order, as a person chose them.
#pragma once

#include "app/tui/desk.h"
#include "app/view/tables/saved_views.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace fourfold::tui {

class ColumnChoice {
public:
    // `order`: all columns, as they stand at first, without those that are `hidden` then; `title`: of one.
    ColumnChoice(std::vector<int> order, std::function<std::string(int column)> title, std::set<int> hidden = {});
    // What is on show; never nothing.
    [[nodiscard]] std::vector<int> columns() const;
    void ask(Desk& desk); // which one, then what becomes of it
    // In and out of a view, with the column that the table is sorted by.
    [[nodiscard]] view::SavedView saved(int sorted, bool falling) const;
    void show(const view::SavedView& view);
    [[nodiscard]] std::optional<int> column_of(const std::string& name) const;

private:
    void move(int column, int step);
    [[nodiscard]] std::string name(int column) const { return view::column_name(title_(column)); }

    std::vector<int> first_, order_;
    std::set<int> first_hidden_, hidden_;
    std::function<std::string(int)> title_;
};

} // namespace fourfold::tui
