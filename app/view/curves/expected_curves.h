// SPDX-License-Identifier: GPL-3.0-or-later
// What the recipe that a run follows expects of its loss, as curves to lay beside it.
#pragma once

#include "app/view/curves/run_curves.h"
#include "core/start/recipe.h"

#include <vector>

namespace fourfold::view {

// One for each curve of the recipe, over the steps, tokens and seconds of this run; none where it follows no recipe.
std::vector<CurveRun> expected_curves(const RunDetail& run, const Presets& presets);

// The steps of a plan at which a curve has its points, and the losses there.
std::vector<CurvePoint> loss_over_steps(const LossCurve& curve, const ResolvedPlan& plan);

} // namespace fourfold::view
