// SPDX-License-Identifier: GPL-3.0-or-later
// The layouts of the shipped tables that ran, read without building their plans: a prediction asks for them each time.
#pragma once

#include "core/calibration/sources.h"
#include "core/plan/presets.h"
#include "core/predict/measured_layouts.h"

#include <vector>

namespace fourfold {

// Of `published/` of all preset folders. What cannot be read is passed over: `fourfold validate` names it.
std::vector<MeasuredLayout> published_layouts(const TableSources& sources, const Presets& presets);

// The same of this program's own preset folders, read by the first call of any thread (about 0.1 s).
const std::vector<MeasuredLayout>& shipped_layouts();

} // namespace fourfold
