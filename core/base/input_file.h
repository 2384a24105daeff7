// SPDX-License-Identifier: GPL-3.0-or-later
// How files are opened to be read, everywhere in the programs: what lies where a file is expected is read only if it is
// one. Nobody may ever write into a pipe, and a device may have no end.
#pragma once

#include "core/base/expected.h"
#include "core/base/file_descriptor.h"
#include "core/base/json.h"

#include <sys/types.h>

#include <filesystem>
#include <istream>
#include <string>

namespace fourfold {

// "a pipe", "a folder", ...; empty: a regular file.
std::string kind_of_file(mode_t mode);
// Fails (bad_input) unless a regular file was opened, or /dev/null, an empty one.
Expected<void> check_regular(int fd, const std::filesystem::path& file);
// Opens a regular file, or /dev/null; never waits for anything else.
Expected<FileDescriptor> open_regular(const std::filesystem::path& file);
// The same of what a user names for this once (a plan, an import), which may be a pipe: `<(...)`, /dev/stdin. Then it
// waits for the writer, to the end or the limit.
Expected<std::string> read_input(const std::filesystem::path& file, std::size_t max_bytes = 64u << 20);
Expected<Json> read_json_input(const std::filesystem::path& file, std::size_t max_bytes = 64u << 20);
// The next line of at most `max_bytes`. Of a longer one `whole` is false, and the rest of it comes next: it may have no
// end. False at the end.
bool read_line(std::istream& in, std::string& line, std::size_t max_bytes, bool& whole);
// From where it stands to its end.
Expected<std::string> read_to_end(int fd, const std::filesystem::path& file, std::size_t max_bytes);

} // namespace fourfold
