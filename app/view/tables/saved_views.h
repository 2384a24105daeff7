// SPDX-License-Identifier: GPL-3.0-or-later
// Views of tables that are kept by a name: which columns, in which order, sorted by which, and what else belongs to the
// table. They are the table's, whichever front end shows it: what is saved in the window opens in the terminal, and the
// other way round.
#pragma once

#include "core/base/expected.h"
#include "core/base/json.h"

#include <filesystem>
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

// On one line, without blanks around it; a Problem where nothing is left.
Expected<std::string> usable_view_name(const std::string& text);

// A column's title on one line; that of the pins has none and is "Pin".
std::string column_name(std::string_view title);

// The views of one table in the user's file of them. A file that cannot be used is a Problem, and stays as it is.
class SavedViews {
public:
    explicit SavedViews(std::string table, std::filesystem::path file = default_file());
    static std::filesystem::path default_file(); // config_folder()/table-views.json

    [[nodiscard]] Expected<std::vector<std::string>> names() const; // in the order of the alphabet
    [[nodiscard]] Expected<SavedView> find(const std::string& name) const;
    // One of the same name goes. Names are on one line; blanks around them go.
    Expected<void> keep(const std::string& name, const SavedView& view) const;
    Expected<void> rename(const std::string& name, const std::string& to) const;
    Expected<void> forget(const std::string& name) const;

private:
    [[nodiscard]] Expected<Json> read() const; // the whole file, with an object for this table
    [[nodiscard]] Expected<void> write(const Json& all) const;

    std::string table_;
    std::filesystem::path file_;
};

} // namespace fourfold::view
