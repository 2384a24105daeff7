// SPDX-License-Identifier: GPL-3.0-or-later
// Logging in: ssh-agent and key files, then what the host asks through keyboard-interactive. Never a stored password,
// never agent forwarding.
#pragma once

#include "core/base/expected.h"
#include "runner/ssh/ssh_prompt.h"
#include "runner/ssh/ssh_session.h"

#include <string>

namespace fourfold {

// `name` is the host as the user calls it; `key_file` empty = ssh-agent, the configured and the default keys.
Expected<void> authenticate(
    ssh_session session, const std::string& name, const std::string& key_file, const SshPrompts& prompts);

} // namespace fourfold
