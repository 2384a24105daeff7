// SPDX-License-Identifier: GPL-3.0-or-later
// What a launcher opens towards the hosts of a target and starts there, in words, for every dry run.
#pragma once

#include "runner/target/target.h"

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold {

struct LaunchPreview {
    Json document; // for --json
    std::string text;
};

// The hosts that sessions are opened to: those of the target, of Slurm the login host.
std::vector<std::string> session_hosts(const Target& target);
// True when the sessions run on this computer, without SSH.
bool is_here(const Target& target);

// The keys "connects", "agent" (with size and hash) and "commands" of a dry run's document, and its lines.
Expected<LaunchPreview> preview_sessions(const Target& target, const std::filesystem::path& agent);

} // namespace fourfold
