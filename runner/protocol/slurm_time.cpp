// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/protocol/slurm_time.h"

#include <array>
#include <string_view>

namespace fourfold {

namespace {

constexpr std::size_t kMostDigits = 9;

// A whole number without a sign.
std::optional<double> whole(std::string_view text)
{
    if (text.empty() || text.size() > kMostDigits || text.find_first_not_of("0123456789") != std::string_view::npos)
        return {};
    return std::stod(std::string(text));
}

} // namespace

std::optional<double> slurm_seconds(const std::string& time)
{
    std::string_view rest = time;
    std::optional<double> days;
    if (const std::size_t dash = rest.find('-'); dash != std::string_view::npos) {
        days = whole(rest.substr(0, dash));
        if (!days)
            return {};
        rest.remove_prefix(dash + 1);
    }
    std::array<double, 3> parts{};
    for (std::size_t count = 0; count < parts.size(); ++count) {
        const std::size_t colon = rest.find(':');
        const std::optional<double> part = whole(rest.substr(0, colon));
        if (!part)
            return {};
        parts[count] = *part;
        if (colon != std::string_view::npos) {
            rest.remove_prefix(colon + 1);
            continue;
        }
        // With days the first part counts hours; else one part counts minutes, two minutes and seconds.
        if (days || count == 2)
            return days.value_or(0) * 86400 + parts[0] * 3600 + parts[1] * 60 + parts[2];
        return parts[0] * 60 + parts[1];
    }
    return {};
}

} // namespace fourfold
