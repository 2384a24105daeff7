// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>

namespace fourfold {

// Who holds the lock (flock) on a file, in words: "process 4711 of the node (a session from 10.0.0.5)". Empty when that
// is not known, as of a file system that other nodes write too.
std::string lock_holder(const std::filesystem::path& file);

} // namespace fourfold
