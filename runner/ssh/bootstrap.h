// SPDX-License-Identifier: GPL-3.0-or-later
// First contact with a host: a constant command that finds the agent by its hash, takes it when it is missing, checks
// it and becomes its session.
#pragma once

#include "runner/protocol/transport.h"
#include "runner/ssh/ssh_stream.h"

#include <filesystem>
#include <functional>
#include <string>

namespace fourfold {

// Speaks with remote_command() on `stream` until the agent's session has begun. What the host's shell prints before, on
// standard output or error, is returned and not used (up to 64 KiB each). `progress` gets the fraction sent when the
// agent has to be sent.
Expected<ShellNoise> bootstrap(SshStream& stream, const std::string& base_folder, const std::filesystem::path& agent,
    const std::string& agent_sha256, std::stop_token stop, const std::function<void(double)>& progress);

} // namespace fourfold
