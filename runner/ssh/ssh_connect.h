// SPDX-License-Identifier: GPL-3.0-or-later
// An authenticated session with a host, through jump hosts where the target or ~/.ssh/config says so. The key of every
// host on the way is checked before anything is sent to it.
#pragma once

#include "runner/ssh/ssh_prompt.h"
#include "runner/ssh/ssh_session.h"
#include "runner/target/target.h"

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace fourfold {

struct SshLine {
    std::shared_ptr<void> route; // the sessions to jump hosts, in use as long as `session` is
    SshSession session;
};

struct ConnectOptions {
    std::string name; // of the host, for messages
    TargetHost host;
    double timeout_s = 10;
    SshPrompts prompts;
};

// How a Problem begins when the other end did not get as far as a key.
inline constexpr const char* kNoHandshake = "no SSH connection: ";

// Fails with network (unreachable, cut), conflict (a host key that is not the
// known one), refused (unknown host key, authentication), not_found (key file), bad_input (~/.ssh/config) or cancelled.
Expected<SshLine> ssh_connect_to(const ConnectOptions& options, std::stop_token stop);

// The jump hosts in what libssh makes of a ProxyJump option, the first one reached first; nothing for another command.
std::optional<std::vector<SshPlace>> jumps_of_proxy_command(const std::string& command);

} // namespace fourfold
