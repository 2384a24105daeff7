// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/ssh/home_path.h"

#include "core/base/paths.h"

namespace fourfold {

std::string expanded_home(const std::string& path)
{
    return path.starts_with("~/") ? home_folder().string() + path.substr(1) : path;
}

} // namespace fourfold
