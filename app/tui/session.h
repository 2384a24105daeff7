// SPDX-License-Identifier: GPL-3.0-or-later
// Where a person was when the program ended, however it ended: the plans with their unsaved changes, the page, the
// places in it. A file of the user's data folder: tui.json, and of terminals that are open beside it tui-2.json ... A
// lock beside each says that its program lives; what others left unsaved the next one that starts takes over.
#pragma once

#include "app/tui/desk.h"
#include "core/base/file_descriptor.h"

#include <filesystem>
#include <vector>

namespace fourfold::tui {

class Session {
public:
    // In the first file of the folder that no other terminal has.
    explicit Session(std::filesystem::path folder = default_folder());
    static std::filesystem::path default_folder(); // data_folder()

    // What was kept, with what dead terminals left unsaved; null where there is nothing that can be used. A terminal
    // beside the first begins where that one is, without its unsaved changes.
    [[nodiscard]] Json read();
    // The plans of it into the desk; false where there is none.
    static bool restore_plans(const Json& kept, Desk& desk);
    static void restore_recent(const Json& kept, Desk& desk);
    // Writes what is different from the last time. A disk that is full is told once.
    void keep(Desk& desk, const Json& pages);

private:
    [[nodiscard]] std::filesystem::path file_of(int terminal) const; // from 1
    [[nodiscard]] Json take_unsaved();
    [[nodiscard]] Expected<void> write(const std::string& text) const;

    struct Taken {
        std::filesystem::path file;
        FileDescriptor lock;
    };

    std::filesystem::path folder_, file_;
    FileDescriptor lock_; // of file_
    std::vector<Taken> taken_; // whose plans are not in file_ yet
    std::string written_;
    bool failed_ = false;
};

} // namespace fourfold::tui
