// SPDX-License-Identifier: GPL-3.0-or-later
// The two large trees of explain.h: step time and memory.
#pragma once

#include "core/predict/explain.h"

namespace fourfold {

// Parts, and below each the operations of the reference stage over the whole step. What overlaps is a child with a
// negative value, so that every level adds up.
Explanation explain_step_time(const Prediction& prediction);
// The published stage's memory (largest, or the one that the stack prints): kinds, and below each its allocations with
// how many of them are alive at the peak.
Explanation explain_memory(const Prediction& prediction);
// Every stage, and what the device holds beyond the framework's allocator.
Explanation explain_device_memory(const Prediction& prediction);

} // namespace fourfold
