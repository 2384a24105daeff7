// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that is decided before a run touches any node or the history: the plan checked, predicted, spread over the
// hosts, its files found.
#pragma once

#include "runner/bundle/bundle.h"
#include "runner/protocol/run_spec.h"
#include "runner/runs/run.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

struct LaunchPlan {
    ResolvedPlan plan; // of stack `fourfold`, steps as asked, files absolute
    Prediction prediction; // of `plan`
    std::optional<Prediction> planned; // of the plan as it came, when its stack is another one
    std::string note; // says so; empty otherwise
    Target target;
    std::vector<std::vector<RankPlace>> ranks; // of each host
    Bundle bundle;
    std::filesystem::path trainer, agent;
    std::map<std::string, std::string> environment; // the plan's, then the target's

    // Ranks that are asked to stop save a checkpoint first.
    [[nodiscard]] bool saves() const { return plan.run.checkpoint.every > 0; }
};

Expected<LaunchPlan> plan_launch(const RunRequest& request);

// {"tp": 0, "cp": 0, "pp": 1, "dp": 0}
Json coordinates_json(const Layout& layout, int rank);

} // namespace fourfold
