// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/text.h"

#include "core/base/text.h"
#include "core/report/table/table.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>

namespace fourfold::view {

namespace {
// Decimals that leave about three significant digits.
int decimals_for(double value)
{
    const double magnitude = std::abs(value);
    if (magnitude >= 99.95)
        return 0;
    if (magnitude >= 9.995)
        return 1;
    return 2;
}
} // namespace

std::string grouped(double value, int decimals)
{
    return shown_number(value, decimals);
}

Quantity duration_parts(double seconds)
{
    const double magnitude = std::abs(seconds);
    if (magnitude >= 0.9995 || magnitude == 0)
        return {grouped(seconds, magnitude >= 99.95 ? 1 : decimals_for(seconds)), "s"};
    if (magnitude >= 0.9995e-3)
        return {grouped(seconds * 1e3, decimals_for(seconds * 1e3)), "ms"};
    return {grouped(seconds * 1e6, decimals_for(seconds * 1e6)), "\u00b5s"};
}

std::string duration(double seconds)
{
    const Quantity parts = duration_parts(seconds);
    return parts.value + ' ' + parts.unit;
}

std::string rough_duration(double seconds)
{
    struct Unit {
        std::int64_t seconds;
        const char* name;
    };
    static constexpr Unit units[]{{86400, " d"}, {3600, " h"}, {60, " min"}, {1, " s"}};
    std::int64_t left = std::llround(std::max(0.0, seconds));
    for (std::size_t i = 0; i + 1 < std::size(units); ++i) {
        if (left < units[i].seconds)
            continue;
        const Unit &large = units[i], &small = units[i + 1];
        left = (left + small.seconds / 2) / small.seconds; // in the small unit
        const std::int64_t each = large.seconds / small.seconds;
        const std::string text = grouped(double(left / each)) + large.name;
        return left % each == 0 ? text : text + ' ' + grouped(double(left % each)) + small.name;
    }
    return grouped(double(left)) + " s";
}

std::string compact(double value)
{
    struct Step {
        double limit, unit;
        const char* suffix;
    };
    static constexpr Step steps[]{{999.5e9, 1e12, " T"}, {999.5e6, 1e9, " B"}, {999.5e3, 1e6, " M"}};
    for (const Step& step : steps) {
        if (std::abs(value) >= step.limit)
            return grouped(value / step.unit, decimals_for(value / step.unit)) + step.suffix;
    }
    return grouped(value, std::abs(value) < 9.995 && value != std::floor(value) ? 2 : 0);
}

std::string gib(double value)
{
    const double magnitude = std::abs(value);
    if (magnitude >= 9.95 || magnitude == 0)
        return grouped(value, 1);
    return grouped(value, magnitude >= 0.0995 ? 2 : 3);
}

std::string throughput_text(double value)
{
    return grouped(value, value < 100 ? 1 : 0);
}

std::string significant(double value)
{
    if (value == 0 || !std::isfinite(value))
        return text_of("%g", value);
    const int before = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
    if (before < -3)
        return text_of("%.4g", value);
    return grouped(value, std::clamp(4 - before, 0, 6));
}

std::string percent(double fraction, int decimals)
{
    return grouped(fraction * 100, decimals);
}

std::string signed_percent(double fraction, int decimals)
{
    const std::string digits = grouped(std::abs(fraction) * 100, decimals);
    if (digits == grouped(0, decimals))
        return digits + " %"; // what is nothing at these digits has no direction
    return (fraction < 0 ? '-' : '+') + digits + " %";
}

std::string counted(double count, const std::string& one, const std::string& many)
{
    return grouped(count) + ' ' + (count == 1 ? one : many.empty() ? one + 's' : many);
}

std::optional<std::time_t> seconds_of(const std::string& iso)
{
    std::tm time{};
    if (strptime(iso.c_str(), "%Y-%m-%dT%H:%M:%S", &time) == nullptr)
        return {};
    return timegm(&time);
}

std::optional<std::string> local_time(const std::string& iso, const char* format)
{
    const std::optional<std::time_t> at = seconds_of(iso);
    if (!at)
        return {};
    std::tm time{};
    char text[64];
    localtime_r(&*at, &time);
    return std::string(text, std::strftime(text, sizeof text, format, &time));
}

std::string upper_case(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
        [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return text;
}

} // namespace fourfold::view
