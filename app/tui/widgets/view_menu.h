// SPDX-License-Identifier: GPL-3.0-or-later
// The views of a table that are kept by a name: shown, saved, renamed and deleted in a list over the page.
#pragma once

#include "app/tui/desk.h"
#include "app/view/tables/saved_views.h"

#include <functional>
#include <string>

namespace fourfold::tui {

class ViewMenu {
public:
    // `get`: the table as it is; `put`: shows one that was kept, or says why not. Lives as long as the desk.
    ViewMenu(Desk& desk, std::string table, std::function<view::SavedView()> get,
        std::function<Expected<void>(const view::SavedView& view)> put);
    void ask();

private:
    using Chosen = std::function<void(const std::string& name)>;
    // One of the views, which there are.
    void pick(const std::string& title, const std::vector<std::string>& names, const Chosen& chosen);
    void show(const std::string& name);
    void ask_to_save();
    void save(const std::string& name);
    void ask_to_rename(const std::string& name);
    void ask_to_delete(const std::string& name);

    [[nodiscard]] view::SavedViews views() const { return view::views_beside(desk_.project_views, table_); }

    Desk& desk_;
    std::string table_;
    std::function<view::SavedView()> get_;
    std::function<Expected<void>(const view::SavedView&)> put_;
};

} // namespace fourfold::tui
