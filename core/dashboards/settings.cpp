// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/dashboards/settings.h"

#include "core/history/run_event.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace fourfold {

namespace {
constexpr std::array<std::string_view, 4> kWhole{"model", "layout", "training", "run"};
constexpr std::array<std::string_view, 2> kByName{"cluster", "stack"}; // measured constants are no choice of the run's

using Settings = std::vector<std::pair<std::string, Json>>;

// Depth goes as far as a plan's objects do; lists (data, learning rates by name) are no single value.
void add(const std::string& place, const Json& value, Settings& settings)
{
    if (value.is_object())
        for (const auto& [key, inner] : value.items())
            add(place + "." + key, inner, settings);
    else if (value.is_primitive() && !value.is_null())
        settings.emplace_back(place, value);
}
} // namespace

std::vector<std::pair<std::string, Json>> settings_of(const Json& plan)
{
    Settings settings;
    if (!plan.is_object())
        return settings;
    for (const auto& [key, value] : plan.items()) {
        const auto is_key = [&key](std::string_view name) { return name == key; };
        if (std::ranges::any_of(kWhole, is_key) || key == "name" || key == "gpus")
            add(key, value, settings);
        else if (std::ranges::any_of(kByName, is_key))
            add(key, value.is_object() ? Json(string_at(value, "name")) : value, settings);
    }
    return settings;
}

} // namespace fourfold
