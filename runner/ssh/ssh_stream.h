// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runner/protocol/transport.h"
#include "runner/ssh/ssh_session.h"

#include <string>

namespace fourfold {

// How a Problem begins when the command ended by itself, and what stands before the host's own words in any.
inline constexpr const char* kCommandEnded = "the remote command ended";
inline constexpr const char* kHostSays = "; the host says: ";

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
    // What came on standard error since forget_errors(), of a long text its first 64 KiB and its end. Waits up to
    // `timeout` for more of it.
    std::string_view errors(std::chrono::milliseconds timeout);
    void forget_errors() { errors_.clear(); }

private:
    Problem broken(const std::string& what);
    [[nodiscard]] std::string reason() const; // why the connection broke
    Problem unsent(bool is_closed);
    // Gives libssh what it takes now, and takes that off `bytes`; waits a moment where there is no room. True when the
    // kernel has all that libssh took.
    Expected<bool> write_some(std::string_view& bytes);
    void drain_errors();
    void take_errors(std::string_view bytes);

    std::shared_ptr<void> route_;
    SshSession session_;
    ssh_channel channel_;
    std::string host_;
    std::string errors_; // of standard error: its beginning and its end
    bool broken_ = false;
    std::chrono::milliseconds quiet_{0}; // since something was heard
};

} // namespace fourfold
