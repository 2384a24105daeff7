// SPDX-License-Identifier: GPL-3.0-or-later
// What `fourfold presets` lists, and the shell offers behind it.
#pragma once

#include <string>
#include <vector>

namespace fourfold::cli {

inline const std::vector<std::string>& preset_kinds()
{
    static const std::vector<std::string> kinds{"models", "gpus", "clusters", "stacks", "plans", "targets"};
    return kinds;
}

} // namespace fourfold::cli
