// SPDX-License-Identifier: GPL-3.0-or-later
// First contact with a host: a constant command that looks at who could have put something where the agent is kept,
// finds the agent there by its hash, takes it when it is missing, and becomes its session.
#pragma once

#include "runner/protocol/transport.h"
#include "runner/ssh/ssh_stream.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace fourfold {

// Where a host keeps the agent.
struct AgentPlace {
    std::string base_folder; // as in the target
    std::vector<std::string> group_writable; // folders on the way there that their group may write, absolute
    std::string sha256; // of the agent
};

// Speaks with remote_command() on `stream` until the agent's session has begun. What the host's shell prints before, on
// standard output or error, is returned and not used (up to 64 KiB each). `progress` gets the fraction sent when the
// agent has to be sent.
Expected<ShellNoise> bootstrap(SshStream& stream, const AgentPlace& place, const std::filesystem::path& agent,
    std::stop_token stop, const std::function<void(double)>& progress);

} // namespace fourfold
