// SPDX-License-Identifier: GPL-3.0-or-later
// Time that has gone by, as it is told: in seconds.
#pragma once

#include <chrono>

namespace fourfold {

inline double seconds_since(std::chrono::steady_clock::time_point begin)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace fourfold
