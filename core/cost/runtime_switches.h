// SPDX-License-Identifier: GPL-3.0-or-later
// Run-time switches of CUDA, PyTorch and NCCL in `run.environment`: those that the model knows and those that it does
// not.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace fourfold {

struct RuntimeSwitches {
    bool launch_blocking = false; // CUDA_LAUNCH_BLOCKING=1: each launch waits for its kernel, nothing overlaps
    bool expandable_segments = false; // PYTORCH_ALLOC_CONF=...expandable_segments:True...: little fragmentation
    std::vector<std::string> not_modelled; // names of variables that change time or memory in ways left out here
};

RuntimeSwitches runtime_switches(const std::map<std::string, std::string>& environment);

} // namespace fourfold
