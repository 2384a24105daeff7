// SPDX-License-Identifier: GPL-3.0-or-later
// The one JSON type of the project: keys keep the order in which they were written.
#pragma once

#include "core/base/expected.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace fourfold {

using Json = nlohmann::ordered_json;

// Parses `text`. A syntax error becomes a Problem that names `where`, line and column. Depth is limited to 64 levels
// and duplicate keys within one object are an error (which of the two was meant is not ours to guess).
Expected<Json> parse_json(std::string_view text, const std::string& where);

// Null for what JSON has no number for: infinity, NaN, what is unknown.
Json number_or_null(double value);
Json number_or_null(const std::optional<double>& value);

// Reads and parses a file of at most `max_bytes`. Errors name the file.
Expected<Json> read_json_file(const std::filesystem::path& file, std::size_t max_bytes = 64u << 20);

// Reads a whole file of at most `max_bytes`.
Expected<std::string> read_text_file(const std::filesystem::path& file, std::size_t max_bytes = 64u << 20);

// Makes what is missing of a folder. An error says what stands in the way.
Expected<void> make_folders(const std::filesystem::path& folder);

// Writes `text` to `file` through a temporary file, fsync and rename: readers see the old or the new content, never a
// part. On an error nothing is left behind.
Expected<void> write_file_atomically(const std::filesystem::path& file, std::string_view text);

} // namespace fourfold
