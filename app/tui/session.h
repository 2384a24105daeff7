// SPDX-License-Identifier: GPL-3.0-or-later
// Where a person was when the program ended, however it ended: the plans with their unsaved changes, the page, the
// places in it. A file of the user's data folder.
#pragma once

#include "app/tui/desk.h"

#include <filesystem>

namespace fourfold::tui {

class Session {
public:
    explicit Session(std::filesystem::path file = default_file())
        : file_(std::move(file))
    {
    }
    static std::filesystem::path default_file(); // data_folder()/tui.json

    // What was kept; null where there is nothing that can be used.
    [[nodiscard]] Json read() const;
    // The plans of it into the desk; false where there is none.
    static bool restore_plans(const Json& kept, Desk& desk);
    static void restore_recent(const Json& kept, Desk& desk);
    // Writes what is different from the last time. A disk that is full is told once.
    void keep(Desk& desk, const Json& pages);

private:
    [[nodiscard]] Expected<void> write(const std::string& text) const;

    std::filesystem::path file_;
    std::string written_;
    bool failed_ = false;
};

} // namespace fourfold::tui
