// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/plan_source.h"

#include <string>
#include <vector>

namespace fourfold::cli {

// Run documents (as `history export` writes them) of the rows of a measured table that ran or crashed; `remarks` gets
// what is wrong with others.
Expected<std::vector<Json>> runs_of_table(const std::string& file, std::vector<std::string>& remarks);
// The run document of a log of Megatron-LM, Megatron-DeepSpeed or torchtitan; `plan` says what was run.
Expected<std::vector<Json>> runs_of_log(const std::string& file, const PlanOptions& plan);

} // namespace fourfold::cli
