// SPDX-License-Identifier: GPL-3.0-or-later
// Files that somebody at a window or terminal names to be written.
#pragma once

#include "core/base/expected.h"

#include <filesystem>

namespace fourfold::view {

// Fails where writing would keep everything waiting (a pipe that nobody may ever read), or would take the place of the
// history.
Expected<void> check_output(const std::filesystem::path& file);

} // namespace fourfold::view
