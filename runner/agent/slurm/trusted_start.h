// SPDX-License-Identifier: GPL-3.0-or-later
// How the nodes of a Slurm job start the agent that submitted it. They have their own view of its folder, and nobody
// has looked at it there.
#pragma once

#include "core/base/expected.h"
#include "runner/agent/system/trusted_path.h"

#include <filesystem>
#include <string>

namespace fourfold {

// A command for /bin/sh that runs `program` (absolute, its name as in `program`'s last part) with the two arguments
// that follow it, if it still is what it is now and nobody but the user and root could have put something else there;
// else it says on standard error why not and fails. Fails where `program` cannot be read.
Expected<std::string> trusted_start(const std::filesystem::path& program, const GroupFolders& group_writable);

} // namespace fourfold
