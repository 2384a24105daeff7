// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/planning/plan_source.h"

#include <string>
#include <vector>

namespace fourfold::cli {

// The run document (as `history export` writes it) of a log of Megatron-LM, Megatron-DeepSpeed or torchtitan; `plan`
// says what was run.
Expected<std::vector<Json>> runs_of_log(const std::string& text, const std::string& file, const PlanOptions& plan);

} // namespace fourfold::cli
