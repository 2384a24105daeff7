// SPDX-License-Identifier: GPL-3.0-or-later
// The open project, if there is one: its plans are the open plans; its file follows what is open, compared and kept by
// name, a moment after each change.
#pragma once

#include "app/tui/desk.h"
#include "app/view/project/open_project.h"

#include <chrono>
#include <optional>

namespace fourfold::tui {

class ComparePage;

class Projects {
public:
    Projects(Desk& desk, ComparePage& compare); // both outlive it
    ~Projects();
    Projects(const Projects&) = delete;
    Projects& operator=(const Projects&) = delete;

    [[nodiscard]] bool is_open() const { return project_.has_value(); }
    [[nodiscard]] std::string name() const { return project_ ? project_->project().name() : std::string(); }
    // Its plans instead of the open ones; asks before changes are lost. What is wrong with it is told.
    void open(const std::filesystem::path& place);
    void keep(); // into its file, at once
    void tick(); // keeps what changed, and looks whether somebody else wrote the file
    [[nodiscard]] int next_tick() const; // milliseconds, negative: only when woken
    [[nodiscard]] std::vector<Command> commands();

    // The session's; of a project that is gone a line says so.
    [[nodiscard]] Json state() const;
    void restore(const Json& state);

private:
    void adopt(view::Project project);
    [[nodiscard]] view::OpenProject::Here here(const view::Project& project) const;
    std::vector<Problem> open_plans(bool keeps_changes); // of the project, instead of the open ones
    void show_comparison();
    void tell_unusable(const std::vector<Problem>& problems);
    void act(const view::OpenProject::Told& told);
    void ask_about_change();
    void save_all();
    void close();

    void ask_to_open();
    void ask_for_folder(const std::string& title, std::function<void(const std::filesystem::path&)> take);
    void create(const std::filesystem::path& folder);
    void ask_other_plans();
    void ask_notes();
    void ask_line(std::size_t line); // of the notes; one behind the last is a new one

    Desk& desk_;
    ComparePage& compare_;
    std::optional<view::OpenProject> project_;
    std::vector<std::filesystem::path> recent_; // folders, the last one first
    std::chrono::steady_clock::time_point looked_{};
    bool asks_ = false; // whose version of the file is to stay
    std::chrono::steady_clock::time_point asks_again_{}; // not before
};

} // namespace fourfold::tui
