// SPDX-License-Identifier: GPL-3.0-or-later
// How the measurement nearest to a plan reads.
#pragma once

#include "core/predict/prediction.h"

#include <string>

namespace fourfold {

// "TABLE row 7, tp 2, cp 1, pp 2, dp 4, micro-batch 1; predicted +3.1 %"
std::string nearest_row_text(const NearestMeasured& nearest);

} // namespace fourfold
