// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/plan.h"

#include <filesystem>
#include <string>

namespace fourfold {

// Where a file is that `field` of the plan names: as it is when the name is absolute, else relative to the folder of
// the plan's file, then to the program's resources. The path is absolute. Fails with not_found that names the places
// looked at.
Expected<std::filesystem::path> named_file(const ResolvedPlan& plan, const std::string& name, const std::string& field);

} // namespace fourfold
