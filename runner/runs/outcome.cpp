// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/outcome.h"

namespace fourfold {

RunResult outcome(const Recorder& recorder, FollowResult followed)
{
    RunResult result;
    result.id = recorder.run();
    result.folder = recorder.folder();
    result.state = followed.state;
    result.problem = std::move(followed.problem);
    if (const auto detail = recorder.store().show(recorder.run())) {
        result.predicted_tps_per_gpu = detail->summary.predicted_tps_per_gpu;
        result.measured_tps_per_gpu = detail->summary.measured_tps_per_gpu;
    }
    return result;
}

RunResult conclude(Recorder& recorder, RunObserver& observer, FollowResult followed)
{
    const std::string problem = followed.problem ? followed.problem->line() : std::string();
    // Also when it has not ended: an `end` of the first node alone may have set another state.
    const auto stored = recorder.set_state(followed.state, problem);
    if (!stored && !followed.problem)
        followed.problem = stored.error();
    observer.on_state(followed.state, problem);
    return outcome(recorder, std::move(followed));
}

} // namespace fourfold
