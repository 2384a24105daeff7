// SPDX-License-Identifier: GPL-3.0-or-later
// Presets of the user's that programs of this project write.
#pragma once

#include "core/base/json.h"

#include <string>

namespace fourfold {

// Whether a program of this project found or measured the figures of a preset (its `source` says so): newer ones may
// take its place, what a person wrote stays.
inline bool came_from_fourfold(const Json& preset)
{
    const auto source = preset.find("source");
    return source != preset.end() && source->dump().find(" by `fourfold ") != std::string::npos;
}

} // namespace fourfold
