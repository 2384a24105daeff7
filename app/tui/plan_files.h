// SPDX-License-Identifier: GPL-3.0-or-later
// Plans from files and into files, with the questions that come before.
#pragma once

#include "app/view/dropped_item.h"
#include "app/view/plan/plan_editor.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <vector>

namespace fourfold::tui {

class Desk;

class PlanFiles {
public:
    explicit PlanFiles(Desk& desk) // outlives it
        : desk_(desk)
    {
    }

    void ask_to_open();
    void open(const std::filesystem::path& file); // of a plan, or of a preset's
    void open_any(const std::filesystem::path& file); // also what is no plan
    // Of what is no plan: a trace, a project, a run; the shell knows the pages.
    std::function<void(const view::DroppedItem&)> open_other;
    Expected<void> open_start_plan(); // the example that runs on this computer
    // See view::open_instead(); of none the example.
    std::vector<Problem> open_instead(const std::vector<std::filesystem::path>& files, bool keeps_changes = false);
    Expected<void> open_beside(const std::filesystem::path& file); // unless it is open; what is on show stays

    std::filesystem::path folder; // where a plan that was never saved goes; empty: where the program was started
    void save(); // asks for a name where there is none, and where the file was changed by others
    void ask_to_save_as();

    void ask_to_import_model(); // of a Hugging Face config.json, with what is used of it
    Expected<void> import_model(const std::filesystem::path& config); // or of the folder that has one

    // Files of plans that were opened or saved, the last one first.
    [[nodiscard]] const std::vector<std::filesystem::path>& recent() const { return recent_; }
    void set_recent(std::vector<std::filesystem::path> files) { recent_ = std::move(files); }

    // At the file of the plan on show, now and then: what others wrote is read again where nothing here is lost by
    // that; where something is, saving asks.
    void look();
    [[nodiscard]] int next_tick() const; // milliseconds until look() is wanted; negative: not at all

private:
    void ask_for_file();
    void write(const std::filesystem::path& file);
    void remember(const std::filesystem::path& file);

    Desk& desk_;
    std::vector<std::filesystem::path> recent_;
    std::chrono::steady_clock::time_point looked_{};
    const view::PlanEditor* changed_ = nullptr; // it was told that the file is another one
};

} // namespace fourfold::tui
