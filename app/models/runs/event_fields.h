// SPDX-License-Identifier: GPL-3.0-or-later
// Fields of a run's events, which come from other programs: what is missing or of another kind is empty.
// Numbers: number_at() of run_event.h.
#pragma once

#include "app/models/shared/text.h"
#include "core/history/run_event.h"

#include <QString>

#include <limits>
#include <optional>

namespace fourfold::ui {

// Whole and within reach of an int.
inline std::optional<int> whole(const Json& event, const char* key)
{
    const std::optional<double> value = number_at(event, key);
    constexpr double kMost = std::numeric_limits<int>::max();
    return value && *value >= -kMost && *value <= kMost ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

inline QString words(const Json& event, const char* key)
{
    return fromUtf8(string_at(event, key));
}

} // namespace fourfold::ui
