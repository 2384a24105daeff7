// SPDX-License-Identifier: GPL-3.0-or-later
// A config.json as Python writes it.
#pragma once

#include "core/base/json.h"

#include <filesystem>

namespace fourfold {

// Infinity and NaN, which Python writes though JSON has no such numbers, are read as texts of that name, which no
// number that counts may be. `named`: by the user for this once, so that it may be a pipe (core/base/input_file.h).
Expected<Json> read_config_file(const std::filesystem::path& file, bool named);
// The same of a text.
Expected<Json> parse_config(std::string text, const std::string& where);

} // namespace fourfold
