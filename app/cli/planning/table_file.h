// SPDX-License-Identifier: GPL-3.0-or-later
// A measured table by its file or by the name of a published one.
#pragma once

#include "core/calibration/measured_table.h"

namespace fourfold::cli {

// Bad rows are told on standard error and left out.
Expected<MeasuredTable> load_measured_table(const std::string& name, const Presets& presets);

} // namespace fourfold::cli
