// SPDX-License-Identifier: GPL-3.0-or-later
// A rank that ends because another one failed says so in its log: its agent then leaves the verdict to the node of the
// rank that failed first.
#pragma once

namespace fourfold {

inline constexpr const char* kStoppedAsAnotherFailed = "stopped, as another rank failed";

} // namespace fourfold
