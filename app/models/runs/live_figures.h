// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of a run under way, in the form of the answer strip: state, throughput, loss, memory, progress.
#pragma once

#include "app/models/runs/live_run.h"
#include "app/view/answer.h"

#include <array>

namespace fourfold::ui {

std::array<view::Figure, 5> liveFigures(const LiveRun& run);

} // namespace fourfold::ui
