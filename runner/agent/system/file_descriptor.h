// SPDX-License-Identifier: GPL-3.0-or-later
// Files opened safely, and reads and writes that finish what they begin.
#pragma once

#include "core/base/expected.h"
#include "core/base/file_descriptor.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace fourfold {

// A Problem (io) with the text of errno.
Problem errno_problem(const std::string& what, const std::filesystem::path& where);
// Opens a regular file (or /dev/null) with O_CLOEXEC | O_NOFOLLOW and mode 0600; never waits for anything else.
Expected<FileDescriptor> open_file(const std::filesystem::path& file, int flags);
// False with errno set when not everything could be written.
bool write_fully(int fd, std::string_view bytes);
// Reads a small file of /proc or of ours; empty when it cannot be read.
std::string slurp(const std::filesystem::path& file, std::size_t max_bytes = 1u << 20);

} // namespace fourfold
