// SPDX-License-Identifier: GPL-3.0-or-later
// SHA-256 as lower-case hex.
#pragma once

#include "core/base/expected.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace fourfold {

std::string sha256_hex(std::string_view bytes);
// Of a file's content, read in blocks.
Expected<std::string> sha256_file(const std::filesystem::path& file);

} // namespace fourfold
