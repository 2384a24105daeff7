// SPDX-License-Identifier: GPL-3.0-or-later
// What a planned timeline leaves out: of very many micro-batches the planner simulates as many as bound its work, and
// knows of the others only how long they take.
#pragma once

#include "app/view/prediction/timeline_scene.h"
#include "core/predict/prediction.h"

#include <optional>
#include <string>

namespace fourfold::view {

// The middle of the step, where no stage has a bar though all of them work. Empty: every micro-batch has its bars.
std::optional<SteadyPart> steady_part(const Prediction& prediction);
std::string steady_words(const SteadyPart& steady); // "544 more micro-batches like these"
// The step of a plan; what is left out of it is not idle.
TimelineScene planned_scene(const Prediction& prediction);

} // namespace fourfold::view
