// SPDX-License-Identifier: GPL-3.0-or-later
// The files of the user's history, for whoever is about to write a file.
#pragma once

#include <filesystem>

namespace fourfold {

// Whether this is the history or one of SQLite's files beside it, by whatever way and whether or not it is there.
bool is_history(const std::filesystem::path& file);

} // namespace fourfold
