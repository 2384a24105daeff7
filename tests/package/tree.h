// SPDX-License-Identifier: GPL-3.0-or-later
// The checkout as the tests of its structure see it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold {

// Files of the project, relative to its root and sorted: what git tracks, or, outside a git checkout (an unpacked
// archive), everything but build folders.
std::vector<std::string> project_files();

// Those of `files` that begin with `prefix` and end in one of `endings`.
std::vector<std::string> select(
    const std::vector<std::string>& files, const std::string& prefix, const std::vector<std::string>& endings);

// The lines of a file of the project. A missing file gives none.
std::vector<std::string> project_lines(const std::string& file);

// The names of `#include <name>` and `#include "name"` of a source.
std::vector<std::string> includes(const std::string& file);

struct CommandResult {
    int status = -1;
    std::string output; // standard output and error
};
// Runs a shell command of constant words and quoted paths.
CommandResult shell(const std::string& command);
std::string shell_word(const std::filesystem::path& path);

// A fresh folder that is removed with its content at the end of the scope.
class ScratchFolder {
public:
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

} // namespace fourfold
