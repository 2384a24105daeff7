// SPDX-License-Identifier: GPL-3.0-or-later
// A project while it is open in a front end: what its file is to say, when it is written, and what becomes of a file
// that somebody else wrote.
#pragma once

#include "app/view/project/project.h"

namespace fourfold::view {

class OpenProject {
public:
    // What the front end has on show, of which the file is made.
    struct Here {
        std::vector<std::filesystem::path> plans; // files of the open plans, in their order
        bool has_changes = false; // of any plan, that its file has not
        Json comparison, comparisons; // a KeptComparison as it is written; those with names
    };
    OpenProject(Project project, std::function<Here(const Project&)> here);

    [[nodiscard]] Project& project() { return project_; }
    [[nodiscard]] const Project& project() const { return project_; }

    // Has the front end open the project's plans. Those that could not be opened stay in the list of its file: another
    // branch may have them. Returns why they could not, a Problem each.
    std::vector<Problem> open_plans(
        const std::function<std::vector<Problem>(const std::vector<std::filesystem::path>&)>& open,
        const std::function<bool(const std::filesystem::path&)>& is_open);

    enum class News {
        none,
        kept, // the file was written
        failed, // the file cannot be written: `why`; told once
        unreadable, // the file that somebody else wrote cannot be read: `why`; what is here stays until it is whole
        differs, // both the file and what is here have changed: somebody has to say which of them stays
        reload // the file has changed and nothing here has: the project is to be opened again
    };
    struct Told {
        News news = News::none;
        std::string why;
        bool is_readable_again = false;
    };
    Told keep(); // into its file, at once, where it would change that
    Told look(); // at its file
    [[nodiscard]] bool is_unreadable() const { return !unreadable_.empty(); }

private:
    Here gather();

    Project project_;
    std::function<Here(const Project&)> here_;
    std::vector<std::filesystem::path> unusable_; // its plans that could not be opened
    std::string unreadable_; // why, as it was told last
    bool has_failed_ = false;
};

} // namespace fourfold::view
