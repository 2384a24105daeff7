// SPDX-License-Identifier: GPL-3.0-or-later
// How a followed run ended: stored in the history, told to the observer, returned to the caller.
#pragma once

#include "runner/runs/follow.h"
#include "runner/runs/recorder.h"

namespace fourfold {

// Why a run ended as it did: by the `end` and the `error` event of the node that was first (null where it wrote none).
// `folder`: of the run on this computer, with the ranks' logs.
Problem problem_of_end(RunState state, const Json& end, const Json& error, const std::filesystem::path& folder);
// The result with the history's figures.
RunResult outcome(const Recorder& recorder, FollowResult followed);
// The same, after storing the final state and telling the observer.
RunResult conclude(Recorder& recorder, RunObserver& observer, FollowResult followed);

} // namespace fourfold
