// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers and words as every front end shows them: English digits with grouping, fixed decimals, a narrow choice of
// units.
#pragma once

#include <ctime>
#include <optional>
#include <string>

namespace fourfold::view {

// 12,345.6
std::string grouped(double value, int decimals = 0);
// Three significant digits or so with a unit that fits: "69.0 s", "8.34 s", "12.3 ms", "450 µs".
std::string duration(double seconds);
// What is left of something, in whole units, two at most: "42 s", "1 min 45 s", "3 h 10 min", "2 d 4 h".
std::string rough_duration(double seconds);
// "8.34" and "s" apart, for figures whose unit is set smaller than the number.
struct Quantity {
    std::string value, unit;
};
Quantity duration_parts(double seconds);
// "8.4 M", "1.01 M", "982", "70.6 B".
std::string compact(double value);
// GiB with a fixed number of decimals for the magnitude: "56.7", "0.42", "0.003".
std::string gib(double value);
// Tokens/s per GPU: "7,677", one decimal below 100.
std::string throughput_text(double value);
// Four significant digits, grouped where there are more before the point: "3,573", "31.89", "0.02037".
std::string significant(double value);
// What stands for a value that is not known.
inline constexpr const char* kUnknown = "\u2013";
// "42.0"
std::string percent(double fraction, int decimals = 1);
// "+3.1 %", "-0.4 %" with the sign always written.
std::string signed_percent(double fraction, int decimals = 1);
// "1 GPU", "16 GPUs"; `many` defaults to one + "s".
std::string counted(double count, const std::string& one, const std::string& many = {});
// Of a time in UTC ("2026-01-01T12:34:56.789Z"), since 1970; empty where it is none.
std::optional<std::time_t> seconds_of(const std::string& iso);
// A time of the history ("2026-01-01T12:34:56.789Z") on this computer's clock, as strftime has it; empty where it is
// none.
std::optional<std::string> local_time(const std::string& iso, const char* format);
// A to Z for a to z: "bf16" -> "BF16".
std::string upper_case(std::string text);

} // namespace fourfold::view
