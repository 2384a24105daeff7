// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/ssh/ssh_transport.h"

#include "core/base/sha256.h"
#include "runner/ssh/bootstrap.h"
#include "runner/ssh/ssh_connect.h"
#include "runner/ssh/ssh_stream.h"

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

namespace fourfold {

using Clock = std::chrono::steady_clock;

namespace {

Expected<std::unique_ptr<SshStream>> open_command(SshLine line, const std::string& name)
{
    ssh_channel channel = ssh_channel_new(line.session.get());
    if (!channel || ssh_channel_open_session(channel) != SSH_OK
        || ssh_channel_request_exec(channel, remote_command().c_str()) != SSH_OK) {
        Problem problem
            = no_command_problem(ssh_get_error(line.session.get()), ssh_is_connected(line.session.get()) == 1, name);
        if (channel)
            ssh_channel_free(channel);
        return problem;
    }
    return std::make_unique<SshStream>(std::move(line.session), channel, name, std::move(line.route));
}

// An sshd that has too many logins under way (MaxStartups) closes further connections before it says anything; so does
// one that is just being restarted. Such a connection is tried again for as long as one may take.
Expected<SshLine> connect_patiently(const ConnectOptions& options, const std::stop_token& stop)
{
    const auto deadline
        = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.timeout_s));
    std::minstd_rand random(std::random_device{}());
    for (int attempt = 1;; ++attempt) {
        auto line = ssh_connect_to(options, stop);
        // Hosts that were turned away together do not come back together.
        const auto wait
            = std::chrono::milliseconds(random() % (200u * static_cast<unsigned>(std::min(attempt, 10))) + 50);
        if (line || !line.error().message.starts_with(kNoHandshake) || stop.stop_requested()
            || Clock::now() + wait > deadline) {
            if (!line && attempt > 1)
                line.error().hint = "it was tried " + std::to_string(attempt)
                    + " times; does an SSH server listen there? if so, see MaxStartups of its sshd";
            return line;
        }
        std::this_thread::sleep_for(wait);
    }
}

} // namespace

Problem no_command_problem(const std::string& why, bool connected, const std::string& name)
{
    // A server that refuses says so; a line that is cut says nothing.
    if (!connected || why.empty())
        return {ProblemCode::network,
            "the connection broke before the host ran a command" + (why.empty() ? "" : ": " + why),
            "check that the host is up and that no firewall cuts its connections", name};
    return {ProblemCode::network, "the host does not run a command: " + why,
        "see MaxSessions and ForceCommand of its sshd", name};
}

SshTransport::SshTransport(SshOptions options)
    : options_(std::move(options))
{
}

Expected<std::unique_ptr<ByteStream>> SshTransport::open(std::stop_token stop)
{
    FOURFOLD_TRY(const std::string agent_sha256, sha256_file(options_.agent));
    SshPrompts prompts = options_.prompts;
    if (noted_)
        prompts.note = {};
    noted_ = true;
    FOURFOLD_TRY(
        SshLine line, connect_patiently({options_.name, options_.host, options_.connect_timeout_s, prompts}, stop));
    const int fd = ssh_get_fd(line.session.get());
    const std::stop_callback interrupt(stop, [fd] { shutdown(fd, SHUT_RDWR); });
    std::unique_ptr<SshStream> stream;
    const auto opened = [&]() -> Expected<void> {
        FOURFOLD_TRY(stream, open_command(std::move(line), options_.name));
        const auto progress = options_.progress ? options_.progress : [](double) {};
        FOURFOLD_TRY(noise_,
            bootstrap(*stream, {options_.base_folder, options_.group_writable, agent_sha256}, options_.agent, stop,
                progress));
        return {};
    }();
    if (!opened) {
        if (stop.stop_requested())
            return Problem{ProblemCode::cancelled, "stopped while connecting", {}, options_.name};
        Problem problem = opened.error();
        if (problem.where.empty())
            problem.where = options_.name;
        return problem;
    }
    return std::unique_ptr<ByteStream>(std::move(stream));
}

} // namespace fourfold
