// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/prediction/planned_scene.h"

#include "core/predict/step_time.h"

namespace fourfold::view {

TimelineScene planned_scene(const Prediction& prediction)
{
    TimelineScene scene(prediction.timeline);
    scene.set_steady(steady_part(prediction));
    return scene;
}

} // namespace fourfold::view
