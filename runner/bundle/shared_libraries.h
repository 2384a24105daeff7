// SPDX-License-Identifier: GPL-3.0-or-later
// The shared libraries a program needs on another computer: all that the dynamic loader resolves, except the C library
// itself, which belongs to the node.
#pragma once

#include "core/base/expected.h"

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold {

struct SharedLibrary {
    std::string name; // as programs ask for it, "libstdc++.so.6"
    std::filesystem::path file; // where it is on this computer
};

// Asks the dynamic loader (without running the program), which looks into `folders` first. A static program needs none.
// Fails when the program is not an ELF executable (bad_input) or when it or one of its libraries cannot be found here
// (not_found).
Expected<std::vector<SharedLibrary>> shared_libraries(
    const std::filesystem::path& program, const std::vector<std::filesystem::path>& folders = {});

// The newest GLIBC_2.x that the program itself asks for, as x; 0 when it asks for none.
Expected<int> needed_glibc_minor(const std::filesystem::path& program);

// Reads what the loader prints about resolved libraries ("libx.so => /lib/libx.so (0x7f...)").
Expected<std::vector<SharedLibrary>> parse_loader_trace(const std::string& text, const std::string& program);

} // namespace fourfold
