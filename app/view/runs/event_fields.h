// SPDX-License-Identifier: GPL-3.0-or-later
// Fields of a run's events beside number_at() and string_at() of core/history/run_event.h.
#pragma once

#include "core/history/run_event.h"

#include <limits>

namespace fourfold::view {

// Whole, and within reach of an int.
inline std::optional<int> whole_at(const Json& json, const char* key)
{
    const std::optional<double> value = number_at(json, key);
    constexpr double kMost = std::numeric_limits<int>::max();
    return value && *value >= -kMost && *value <= kMost ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

} // namespace fourfold::view
