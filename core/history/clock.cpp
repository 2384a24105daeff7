// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/history/clock.h"

#include <chrono>
#include <cstdio>
#include <ctime>
#include <string_view>

namespace fourfold::history {

std::string now_text()
{
    const auto now = std::chrono::system_clock::now();
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
    const std::time_t seconds = milliseconds / 1000;
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[96];
    std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900, parts.tm_mon + 1,
        parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, static_cast<int>(milliseconds % 1000));
    return text;
}

std::optional<double> seconds_of(const std::string& text)
{
    // The shape first, then the digits at their places: a run has millions of them, and sscanf is slow.
    constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
    if (text.size() < kShape.size())
        return std::nullopt;
    for (std::size_t i = 0; i < kShape.size(); ++i) {
        const bool digit = text[i] >= '0' && text[i] <= '9';
        if (kShape[i] == 'd' ? !digit : text[i] != kShape[i])
            return std::nullopt;
    }
    const auto number = [&](std::size_t at, std::size_t digits) {
        int value = 0;
        for (std::size_t i = 0; i < digits; ++i)
            value = value * 10 + (text[at + i] - '0');
        return value;
    };
    const int hour = number(11, 2), minute = number(14, 2), second = number(17, 2);
    double fraction = 0;
    std::size_t at = kShape.size();
    if (at < text.size() && text[at] == '.') {
        double scale = 0.1;
        for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, scale /= 10)
            fraction += (text[at] - '0') * scale;
    }
    const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
        std::chrono::month(static_cast<unsigned>(number(5, 2))), std::chrono::day(static_cast<unsigned>(number(8, 2)))};
    if (text.compare(at, std::string::npos, "Z") != 0 || date.year() < std::chrono::year(1970) || !date.ok()
        || hour > 23 || minute > 59 || second > 60)
        return std::nullopt;
    const auto days = std::chrono::sys_days(date).time_since_epoch().count();
    return static_cast<double>(int64_t{days} * 86400 + hour * 3600 + minute * 60 + second) + fraction;
}

} // namespace fourfold::history
