// SPDX-License-Identifier: GPL-3.0-or-later
// A list of whole numbers as people write it.
#pragma once

#include "core/base/json.h"

#include <string>
#include <vector>

namespace fourfold::view {

// "10, 10, 11"; of more than a few the repeated ones together: "3 x 10, 11" with a cross.
std::string integer_list_text(const std::vector<int>& numbers);
// Reads both, and numbers with nothing but spaces between them; null for an empty text. `path` names it in the Problem.
Expected<Json> parse_integer_list(const std::string& path, const std::string& text);

} // namespace fourfold::view
