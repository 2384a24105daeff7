// SPDX-License-Identifier: GPL-3.0-or-later
// What a word of the command line may be besides a file: for the completion scripts, which ask when Tab is pressed.
#pragma once

#include "app/cli/command.h"

#include <string>
#include <vector>

namespace fourfold::cli {

// "plans" of an argument PLAN, "clusters" of --cluster and --like; empty: a file, or nothing that is known.
std::string completed_kind(const CLI::Option& option);

// What completed_names() takes.
const std::vector<std::string>& completed_kinds();
// One a line may be of this kind. Names with other characters than letters, digits and ._@+- are left out: a shell
// would take them for something else.
Expected<std::vector<std::string>> completed_names(const std::string& kind);

} // namespace fourfold::cli
