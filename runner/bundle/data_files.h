// SPDX-License-Identifier: GPL-3.0-or-later
// The files that a plan's `run` names: corpora, a schedule. They are made absolute here and re-pointed on the nodes.
#pragma once

#include "core/plan/plan.h"

#include <filesystem>
#include <functional>
#include <string>

namespace fourfold {

// Where a file of the plan is: absolute as it is, else from the plan file's folder, else from a resources folder.
// Fails with not_found that names the field and the places looked at.
Expected<std::filesystem::path> data_file(const ResolvedPlan& plan, const std::string& path, const std::string& field);

// Calls `change` for each file name of the plan (field name, the name itself, which it may replace).
Expected<void> for_each_file(
    ResolvedPlan& plan, const std::function<Expected<void>(const std::string& field, std::string& path)>& change);

} // namespace fourfold
