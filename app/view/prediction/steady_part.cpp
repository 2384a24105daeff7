// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/prediction/steady_part.h"

#include "app/view/text.h"
#include "core/predict/step_time.h"

#include <algorithm>

namespace fourfold::view {

std::optional<SteadyPart> steady_part(const Prediction& prediction)
{
    const int missing = prediction.plan.training.micro_batches - micro_batches_to_simulate(prediction.plan);
    if (missing <= 0)
        return {};
    double last = 0; // end of the passes; the planner puts what it leaves out into their middle
    for (const Span& span : prediction.timeline.spans) {
        if (span.micro_batch >= 0)
            last = std::max(last, span.end_s);
    }
    SteadyPart steady{0, last, missing};
    for (const Span& span : prediction.timeline.spans) {
        if (span.start_s < last / 2)
            steady.begin_s = std::max(steady.begin_s, span.end_s);
        else
            steady.end_s = std::min(steady.end_s, span.start_s);
    }
    return steady.end_s > steady.begin_s ? std::optional(steady) : std::nullopt;
}

std::string steady_words(const SteadyPart& steady)
{
    return counted(steady.micro_batches, "more micro-batch", "more micro-batches") + " like these";
}

TimelineScene planned_scene(const Prediction& prediction)
{
    TimelineScene scene(prediction.timeline);
    scene.set_steady(steady_part(prediction));
    return scene;
}

} // namespace fourfold::view
