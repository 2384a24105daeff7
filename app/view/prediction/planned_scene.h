// SPDX-License-Identifier: GPL-3.0-or-later
// The scene of a planned step, which says what its timeline leaves out.
#pragma once

#include "app/view/prediction/timeline_scene.h"
#include "core/predict/prediction.h"

namespace fourfold::view {

// What is left out of it is not idle.
TimelineScene planned_scene(const Prediction& prediction);

} // namespace fourfold::view
