// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace fourfold {

// "~/" made absolute, as a shell does; unchanged where HOME is not set.
std::string expanded_home(const std::string& path);

} // namespace fourfold
