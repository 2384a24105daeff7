// SPDX-License-Identifier: GPL-3.0-or-later
// Graphs of a device that is not there (runner/trainer/device/device_graph.h), on a CPU: a replay does the recorded
// work again, on what its memory holds now, and puts the results where the recording had them. What a GPU's graphs do
// not promise is not there: a recording leaves no values, and a replay spoils the results of those recorded after it.
#pragma once

#include "runner/trainer/device/device_graph.h"

#include <string>

namespace fourfold::testing {

// `refuses`: the recording, counted from 0, that fails as a device's would; below 0: none does.
std::unique_ptr<trainer::GraphRecorder> graphs_on_cpu(int refuses = -1);

} // namespace fourfold::testing
