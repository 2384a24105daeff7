// SPDX-License-Identifier: GPL-3.0-or-later
// Views of tables that are kept by a name: which columns, in which order, sorted by which, and what else belongs to the
// table. They are the table's, whichever front end shows it: what is saved in the window opens in the terminal, and the
// other way round.
#pragma once

#include "core/base/expected.h"
#include "core/base/json.h"

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fourfold::view {

// The tables of both front ends, as these are called there.
inline constexpr const char *kFoundTable = "results", *kRunsTable = "history", *kComparedTable = "comparison";

struct SavedView {
    std::vector<std::string> columns; // all of them by column_name(), in their order
    std::vector<std::string> hidden; // of those
    std::map<std::string, int> widths; // of the window, in pixels at 100 %; empty: as wide as what they hold
    std::string sorted; // column; empty: by none
    bool falling = false;
    std::string filter; // as it is typed; empty: all rows
    bool front_only = false; // of found layouts: the Pareto front alone
    bool differences_only = false; // of a comparison
    bool operator==(const SavedView&) const = default;
};
Json to_json(const SavedView& view);
// What is missing or odd is as at first.
SavedView saved_view_from_json(const Json& json);
// "tp = 8; by Memory GiB, falling; without EP, Micro"
std::string said(const SavedView& view);

// A column's title on one line; that of the pins has none and is "Pin".
std::string column_name(std::string_view title);

// Where views are kept: all of them, by table and name.
struct ViewStore {
    std::function<Expected<Json>()> read; // an object
    std::function<Expected<void>(const Json& all)> write;
};
// The user's file of them. One that cannot be used is a Problem, and stays as it is.
ViewStore view_file(std::filesystem::path file);

// The views of one table.
class SavedViews {
public:
    // Of several stores, the first is where new views go; a name that is in two is the first one's. One at least.
    SavedViews(std::string table, std::vector<ViewStore> stores);
    explicit SavedViews(std::string table, std::filesystem::path file = default_file());
    static std::filesystem::path default_file(); // config_folder()/table-views.json

    // In the order of the alphabet; of the stores that can be read, a Problem where none can.
    [[nodiscard]] Expected<std::vector<std::string>> names() const;
    [[nodiscard]] Expected<SavedView> find(const std::string& name) const;
    // One of the same name goes. Names are on one line; blanks around them go.
    Expected<void> keep(const std::string& name, const SavedView& view) const;
    Expected<void> rename(const std::string& name, const std::string& to) const;
    Expected<void> forget(const std::string& name) const; // another store may have one of the same name

private:
    [[nodiscard]] Expected<Json> read(const ViewStore& store) const; // all, with an object for this table
    // The first that has the view, else the last.
    [[nodiscard]] const ViewStore& store_of(const std::string& name) const;

    std::string table_;
    std::vector<ViewStore> stores_;
};

// The open project's store of views in front of the user's own; without `read` no project is open.
SavedViews views_beside(const ViewStore& project, std::string table);

} // namespace fourfold::view
