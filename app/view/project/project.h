// SPDX-License-Identifier: GPL-3.0-or-later
// A project: a folder with its plans, and one small text file that says what belongs together. Paths in it are relative
// to the folder, lists are a line an entry: it is made to be read, compared and kept under version control.
#pragma once

#include "app/view/tables/saved_views.h"
#include "core/base/json.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace fourfold::view {

inline constexpr const char* kProjectFile = "fourfold.project.json";
// Its members that both front ends write: a KeptComparison, those by a name, views of tables.
inline constexpr const char *kComparisonPart = "comparison", *kComparisonsPart = "comparisons", *kViewsPart = "views";

// The plans of a folder (*.plan.json), by their names.
std::vector<std::filesystem::path> plans_of_folder(const std::filesystem::path& folder);
// Whether a folder can be opened as a project: it holds the file, or plans.
bool is_project(const std::filesystem::path& folder);

// As a project's file names another file: relative to `folder`, whatever the machine; of a published table that came
// with the program "published:NAME". And back.
std::string portable_path(const std::filesystem::path& file, const std::filesystem::path& folder);
std::filesystem::path path_of(const std::string& portable, const std::filesystem::path& folder);

class Project {
public:
    // Of a folder, or of the file in it. A folder with plans and without the file is a project of all of them.
    static Expected<Project> open(const std::filesystem::path& place);
    // Of a folder that holds none; the file is written.
    static Expected<Project> create(const std::filesystem::path& folder);

    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; } // absolute
    [[nodiscard]] std::filesystem::path file() const { return folder_ / kProjectFile; }
    [[nodiscard]] std::string name() const; // its own, else the folder's

    // The plans that are open in it, absolute, in their order.
    [[nodiscard]] std::vector<std::filesystem::path> plans() const;
    void set_plans(const std::vector<std::filesystem::path>& files);
    // The files of the open plans, with those of the list that could not be opened in their places: another branch may
    // have them.
    void follow_plans(
        const std::vector<std::filesystem::path>& open, const std::vector<std::filesystem::path>& unusable);
    [[nodiscard]] std::string notes() const;
    void set_notes(const std::string& text);
    // A member that the caller knows the form of: null where there is none. An empty value takes it away.
    [[nodiscard]] Json part(const char* key) const;
    [[nodiscard]] Json object_part(const char* key) const; // what is none is an empty one
    void set_part(const char* key, Json value);
    // Its views of tables; `keep` is called where they have changed. The project outlives it.
    [[nodiscard]] ViewStore views(std::function<void()> keep);

    // Writes the file where it would change; what nobody here knows of it is kept.
    Expected<void> save();
    [[nodiscard]] bool is_changed() const; // since it was read or saved
    // Whether somebody else wrote the file since then. One that is gone is not changed: saving brings it back.
    [[nodiscard]] bool is_changed_on_disk() const;
    // What the file holds now is known, and what is here is to replace it.
    void keep_mine();

private:
    Project(std::filesystem::path folder, Json document, std::string file_text);
    [[nodiscard]] std::string text() const;

    std::filesystem::path folder_;
    Json document_;
    std::string file_text_; // as it is known; empty: there is no file
    std::string kept_; // what stands in the file, or would: of a folder without one
};

} // namespace fourfold::view
