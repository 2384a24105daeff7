// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runner/protocol/transport.h"
#include "runner/ssh/ssh_session.h"

#include <string>

namespace fourfold {

// Standard input and output of the remote command as a byte stream. Owns session and channel; used by one thread.
class SshStream : public ByteStream {
public:
    // `route`: what the session runs over, kept as long as it.
    SshStream(SshSession session, ssh_channel channel, std::string host, std::shared_ptr<void> route = {});
    SshStream(const SshStream&) = delete;
    SshStream& operator=(const SshStream&) = delete;
    ~SshStream() override;

    Expected<std::string> read_some(std::chrono::milliseconds timeout) override;
    Expected<void> write_all(std::string_view bytes) override;

private:
    Problem broken(const std::string& what);
    void drain_errors();

    std::shared_ptr<void> route_;
    SshSession session_;
    ssh_channel channel_;
    std::string host_;
    std::string errors_; // the end of what came on standard error
    bool broken_ = false;
    std::chrono::milliseconds quiet_{0}; // since something was heard
};

} // namespace fourfold
