// SPDX-License-Identifier: GPL-3.0-or-later
// Times that are marked on a timeline, and where the time of a part of it goes, in words.
#pragma once

#include "app/view/prediction/timeline_scene.h"

#include <string>
#include <vector>

namespace fourfold::view {

// A mark at this time; one that is within `near` of it goes instead. `marks` stay rising.
void toggle_mark(std::vector<double>& marks, double time, double near);
// Of what all stages have between two times, by kind: "forward 50.0 %, backward 33.3 %, idle 16.7 %".
std::string shares_text(const TimelineScene& scene, double begin, double end);
// "3.00 s from 1.50 s on: " and these.
std::string measured_text(const TimelineScene& scene, double begin, double end);

} // namespace fourfold::view
