// SPDX-License-Identifier: GPL-3.0-or-later
// Which key a host is known to have: Fourfold's own known_hosts file, which it alone writes, and the user's, read only.
#pragma once

#include "core/base/expected.h"
#include "runner/ssh/ssh_session.h"

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold {

enum class HostKeyState { known, unknown, changed, other_type, revoked };

struct HostKeyVerdict {
    HostKeyState state = HostKeyState::unknown;
    // Of the entry that speaks against the key.
    std::string file;
    int line = 0;
    std::string fingerprint, type;
};

// "SHA256:..." and "ssh-ed25519".
std::string fingerprint_of(ssh_key key);
std::string type_of(ssh_key key);

// Looks through all files: an equal key in any of them means known, unless an entry contradicts it; `host` is what was
// connected to, `port` 22 is written without the port.
HostKeyVerdict look_up_host_key(
    const std::vector<std::filesystem::path>& files, const std::string& host, int port, ssh_key key);

// Adds the session's host key to `file` (0600, made when missing).
Expected<void> remember_host_key(const std::filesystem::path& file, ssh_session session);

// config_folder() / "known_hosts".
std::filesystem::path own_known_hosts();

} // namespace fourfold
