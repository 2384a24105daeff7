// SPDX-License-Identifier: GPL-3.0-or-later
// The memory of a stage over a step, for a chart of so many columns.
#pragma once

#include "core/predict/memory_curve.h"

#include <vector>

namespace fourfold::view {

// Largest bytes of each kind in each column of a step of `length_s` seconds: a peak of one micro-batch is never lost
// between two columns.
std::vector<KindBytes> memory_columns(const MemoryCurve& curve, double length_s, int columns);
// Where the axis ends: with the GPU's usable memory (0: unknown) in sight, unless that would leave a line at the
// bottom.
double memory_top(const MemoryCurve& curve, double usable_gib);
// Whether the stack's own figure is so far beyond the peak that it is worth a line.
bool shows_beyond(const MemoryCurve& curve);
// What is held at a time; null before the first action.
const MemoryPoint* memory_point_at(const MemoryCurve& curve, double seconds);
// The beginning of the action `step` actions after the one at `seconds`.
double next_memory_action(const MemoryCurve& curve, double seconds, int step);

} // namespace fourfold::view
