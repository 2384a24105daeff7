// SPDX-License-Identifier: GPL-3.0-or-later
// What a connection may have to ask its user.
#pragma once

#include <string>

namespace fourfold {

// Unknown host key, shown once to the user. `changed` and other mismatches never ask: they are Problems.
struct HostKeyQuestion {
    std::string host; // as in the target
    std::string key_type; // "ssh-ed25519"
    std::string fingerprint; // "SHA256:..."
};

// A passphrase or what a host asks while logging in (a one-time code); asked once, stored nowhere.
struct SecretQuestion {
    std::string host; // as in the target
    std::string prompt; // "passphrase of ~/.ssh/id_ed25519"; text of the host is free of control characters
    bool echo = false; // the answer may be shown while it is typed
    bool again = false; // the answer before was not right
};

} // namespace fourfold
