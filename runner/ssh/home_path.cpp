// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/ssh/home_path.h"

#include <cstdlib>

namespace fourfold {

std::string expanded_home(const std::string& path)
{
    const char* home = std::getenv("HOME");
    return path.starts_with("~/") && home ? home + path.substr(1) : path;
}

} // namespace fourfold
