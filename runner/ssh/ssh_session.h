// SPDX-License-Identifier: GPL-3.0-or-later
// Owners of libssh's handles.
#pragma once

#include <libssh/libssh.h>

#include <memory>

namespace fourfold {

struct SshSessionDeleter {
    void operator()(ssh_session session) const { ssh_free(session); }
};
using SshSession = std::unique_ptr<ssh_session_struct, SshSessionDeleter>;

struct SshKeyDeleter {
    void operator()(ssh_key key) const { ssh_key_free(key); }
};
using SshKey = std::unique_ptr<ssh_key_struct, SshKeyDeleter>;

} // namespace fourfold
