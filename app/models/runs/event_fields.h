// SPDX-License-Identifier: GPL-3.0-or-later
// Fields of a run's events, which come from other programs: what is missing or of another kind is empty.
#pragma once

#include "app/models/shared/text.h"
#include "core/history/run_event.h"

#include <QString>

#include <limits>
#include <optional>

namespace fourfold::ui {

inline std::optional<double> number(const Json& event, const char* key)
{
    return number_at(event, key);
}

// Whole and within reach of an int.
inline std::optional<int> whole(const Json& event, const char* key)
{
    const std::optional<double> value = number(event, key);
    constexpr double kMost = std::numeric_limits<int>::max();
    return value && *value >= -kMost && *value <= kMost ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

inline QString words(const Json& event, const char* key)
{
    const auto found = event.find(key);
    return found != event.end() && found->is_string() ? fromUtf8(found->get<std::string>()) : QString();
}

} // namespace fourfold::ui
