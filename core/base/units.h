// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace fourfold {

inline constexpr double kGib = 1073741824.0; // bytes

} // namespace fourfold
