// SPDX-License-Identifier: GPL-3.0-or-later
// The spans of all pipeline ranks in one timeline.
#pragma once

#include "runner/trainer/comm/mesh.h"
#include "runner/trainer/metrics/step_trace.h"

namespace fourfold::trainer {

// Collective over the world, every rank gets the timeline. One rank stands for each pipeline rank: the one whose other
// coordinates are 0. Each rank's clock begins with its trace, so all begin it at the end of one collective. The
// timeline's length is the latest end.
Timeline collect_spans(const StepTrace& trace, const Mesh& mesh, bool cuda);

} // namespace fourfold::trainer
