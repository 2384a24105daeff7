// SPDX-License-Identifier: GPL-3.0-or-later
// A prediction for people.
#pragma once

#include "core/predict/prediction.h"

#include <string>

namespace fourfold::cli {

// Several lines: what was asked, the verdict, throughput with interval and denominators, time by part, memory by stage.
std::string predict_text(const Prediction& prediction);
// Seconds with three significant digits and a fitting unit: "69.0 s", "3.12 ms", "410 us".
std::string duration_text(double seconds);

} // namespace fourfold::cli
