// SPDX-License-Identifier: GPL-3.0-or-later
// An agent session on another host through libssh: one constant remote command, everything variable as data on its
// standard input.
#pragma once

#include "runner/protocol/transport.h"
#include "runner/ssh/ssh_prompt.h"
#include "runner/target/target.h"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace fourfold {

struct SshOptions {
    std::string name; // for messages
    TargetHost host;
    std::string base_folder;
    std::vector<std::string> group_writable; // folders on the way there that their group may write
    double connect_timeout_s = 10;
    std::filesystem::path agent; // the program to bring there
    SshPrompts prompts;
    std::function<void(double)> progress; // fraction of the agent sent, when it has to be sent
};

class SshTransport : public Transport {
public:
    explicit SshTransport(SshOptions options);
    Expected<std::unique_ptr<ByteStream>> open(std::stop_token stop) override;
    [[nodiscard]] ShellNoise noise() const override { return noise_; }
    [[nodiscard]] std::string host() const override { return options_.name; }

private:
    SshOptions options_;
    bool noted_ = false; // the notes are given once
    ShellNoise noise_;
};

// Where a session was given no command, `why` in the library's words.
Problem no_command_problem(const std::string& why, bool connected, const std::string& name);

// The only command line that is ever sent to a host.
const std::string& remote_command();

} // namespace fourfold
