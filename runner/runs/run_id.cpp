// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/run_id.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <random>
#include <string_view>

namespace fourfold {

std::string new_run_id()
{
    static constexpr std::string_view kDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    auto time = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
    std::string id(26, '0');
    for (int i = 9; i >= 0; --i, time >>= 5)
        id[static_cast<std::size_t>(i)] = kDigits[time & 31];
    std::random_device random; // the kernel's generator
    for (std::size_t i = 10; i < id.size(); ++i)
        id[i] = kDigits[random() & 31];
    return id;
}

} // namespace fourfold
