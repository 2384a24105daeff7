// SPDX-License-Identifier: GPL-3.0-or-later
// A connection to a further host through a session: the native jump host. No program is started.
#pragma once

#include "core/base/expected.h"
#include "runner/ssh/ssh_session.h"

#include <libssh/libssh.h>

#include <memory>
#include <string>
#include <thread>

namespace fourfold {

// Owns the session to the jump host, which its thread alone uses from then on.
class SshForward {
public:
    // Opens a channel from `session`'s host to host:port. `keep` is what the session itself runs over. Fails with
    // network, naming what the jump host said.
    static Expected<std::shared_ptr<SshForward>> open(SshSession session, const std::string& host, int port,
        const std::string& jump_name, std::shared_ptr<void> keep);
    SshForward(const SshForward&) = delete;
    SshForward& operator=(const SshForward&) = delete;
    ~SshForward();

    // This side's end of the line, given away once; the taker closes it.
    int take_socket();

private:
    SshForward(SshSession session, ssh_channel channel, int inner, int outer, std::shared_ptr<void> keep);
    void pump(const std::stop_token& stop);

    std::shared_ptr<void> keep_;
    SshSession session_;
    ssh_channel channel_;
    int inner_, outer_;
    std::jthread thread_;
};

} // namespace fourfold
