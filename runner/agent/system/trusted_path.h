// SPDX-License-Identifier: GPL-3.0-or-later
// Places that nobody but this user and root can put anything else into: what is run, or verified once and used later,
// comes from such places only. Every folder from / on belongs to the user or root and nobody else may write it; a
// sticky folder (/tmp) counts as well, as only its owner and theirs can move what these have put there. A symbolic link
// is followed where root or the user owns it.
#pragma once

#include "runner/agent/system/file_descriptor.h"

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold {

// Folders that their group may write all the same, as the target names them: absolute, without links.
using GroupFolders = std::vector<std::string>;

// Opens (O_PATH) the folder at an absolute path, going there name by name and looking at what was opened, so that
// nothing can be exchanged in between. With `make`, what is missing is made (0700). Fails with `refused` where the
// place cannot be trusted.
Expected<FileDescriptor> open_trusted_folder(
    const std::filesystem::path& folder, const GroupFolders& group_writable, bool make);
// Makes `relative` (plain names) in a folder that was found trustworthy before.
Expected<void> make_trusted_folders(const std::filesystem::path& folder, const std::filesystem::path& relative);
// Opens a regular file of the user or root, which nobody else may write, for reading. Nothing is opened but that: a
// FIFO or a device is refused unopened.
Expected<FileDescriptor> open_trusted_file(const std::filesystem::path& file, const GroupFolders& group_writable);

} // namespace fourfold
