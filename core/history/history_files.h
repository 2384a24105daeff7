// SPDX-License-Identifier: GPL-3.0-or-later
// The files of the user's history, for whoever is about to write a file.
#pragma once

#include "core/base/expected.h"

#include <filesystem>

namespace fourfold {

// Fails where this is the history or one of SQLite's files beside it, by whatever way and whether or not it is there.
Expected<void> check_no_history(const std::filesystem::path& file);

} // namespace fourfold
