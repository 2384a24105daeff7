// SPDX-License-Identifier: GPL-3.0-or-later
// The presets of the tree.
#pragma once

#include "core/plan/presets.h"

#include <filesystem>

namespace fourfold::test {

inline const std::filesystem::path kPresets = std::filesystem::path(FOURFOLD_SOURCE_DIR) / "presets";

inline const Presets& presets()
{
    static const Presets all({kPresets});
    return all;
}

} // namespace fourfold::test
