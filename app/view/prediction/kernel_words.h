// SPDX-License-Identifier: GPL-3.0-or-later
// A kernel of a timeline in words, and kernels by their names.
#pragma once

#include "app/view/prediction/timeline_scene.h"

#include <string>
#include <vector>

namespace fourfold::view {

// Name; kind, layer, micro-batch and where; start, length, wait; and what it moved or computed at which rate, where
// that is known: "all-gather of 268 MB, fsdp, 8 ranks: 214 GB/s".
std::vector<std::string> kernel_lines(const TimelineScene& scene, const BarRef& ref);
// "1.5 kB", "268 MB", "2.1 TFLOP/s": three digits and the decimal prefix that fits.
std::string with_prefix(double value, const std::string& unit);
// Of each of the scene's facts whether its name has this text, upper case or lower.
std::vector<bool> kernels_named(const TimelineScene& scene, const std::string& text);

} // namespace fourfold::view
