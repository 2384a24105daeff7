// SPDX-License-Identifier: GPL-3.0-or-later
// A plan trained to its end by fourfold-trainer, and what it told.
#pragma once

#include "core/base/json.h"
#include "core/plan/plan.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace fourfold::testing {

struct Trained {
    std::map<int, double> losses; // by step, from 1
    std::map<int, Json> steps; // the whole events
    std::map<int, std::string> checkpoints; // folders, by step
    std::vector<std::string> warnings;
    std::vector<Json> errors; // of all ranks
    std::string problem; // what the first and the last rank printed, where a rank failed
};

// In `folder`, which it creates. Every event fits the schema. `cuda`: by fourfold-trainer-cuda, over NCCL.
Trained train(const ResolvedPlan& plan, const std::filesystem::path& folder, bool cuda = false);

} // namespace fourfold::testing
