// SPDX-License-Identifier: GPL-3.0-or-later
// The files that a plan's `run` names: corpora, a schedule. They are made absolute here and re-pointed on the nodes.
#pragma once

#include "core/plan/plan.h"

#include <functional>
#include <string>

namespace fourfold {

// Calls `change` for each file name of the plan (field name, the name itself, which it may replace).
Expected<void> for_each_file(
    ResolvedPlan& plan, const std::function<Expected<void>(const std::string& field, std::string& path)>& change);

} // namespace fourfold
