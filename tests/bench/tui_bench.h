// SPDX-License-Identifier: GPL-3.0-or-later
// What the benchmarks of the terminal share: the plan of the edits, what a screen says, figures in a line.
#pragma once

#include "tests/tui/terminal.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace fourfold::test {

using Clock = std::chrono::steady_clock;

inline constexpr const char* kLargePlan = R"({"fourfold_plan": 1, "name": "Large", "model": "llama-3.1-405b",
    "cluster": "grand-teton-h100", "gpus": 16384, "stack": "megatron-lm", "layout": {"tp": 8, "pp": 16},
    "training": {"seq_len": 8192, "micro_batch": 1, "global_batch": 2048, "schedule": "1f1b"}})";

inline double milliseconds_since(Clock::time_point begin)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

inline void report(const char* what, std::vector<double> values, const char* unit)
{
    std::sort(values.begin(), values.end());
    const auto at = [&](double share) { return values[std::size_t(share * double(values.size() - 1))]; };
    std::printf("%-52s median %.1f, p95 %.1f, most %.1f %s (%zu)\n", what, at(0.5), at(0.95), values.back(), unit,
        values.size());
}

// The row that begins with these words, as it stands now.
inline std::string row_with(const TerminalProgram& program, const std::string& words)
{
    const std::string text = program.grid().text();
    const std::size_t at = text.find(words);
    return at == std::string::npos ? std::string() : text.substr(at, text.find('\n', at) - at);
}

} // namespace fourfold::test
