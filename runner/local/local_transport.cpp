// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/local/local_transport.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

extern char** environ;

namespace fourfold {

namespace {
Problem ended(const std::string& what)
{
    return {ProblemCode::network, "the agent of this computer " + what, "start again", "fourfold-agent"};
}

class ChildStream : public ByteStream {
public:
    ChildStream(pid_t pid, int fd)
        : pid_(pid)
        , fd_(fd)
    {
    }
    ChildStream(const ChildStream&) = delete;
    ChildStream& operator=(const ChildStream&) = delete;
    ~ChildStream() override
    {
        // The end of its input ends the session; what it supervises goes on.
        ::close(fd_);
        for (int i = 0; i < 200; ++i) {
            if (waitpid(pid_, nullptr, WNOHANG) != 0)
                return;
            usleep(10000);
        }
        ::kill(pid_, SIGKILL); // our own child, not yet reaped: the number is still its own
        waitpid(pid_, nullptr, 0);
    }

    Expected<std::string> read_some(std::chrono::milliseconds timeout) override
    {
        pollfd waiting{fd_, POLLIN, 0};
        const int ready = poll(&waiting, 1, static_cast<int>(timeout.count()));
        if (ready == 0 || (ready < 0 && errno == EINTR))
            return std::string{};
        std::array<char, 65536> block; // not filled first: it is read often
        const ssize_t got = recv(fd_, block.data(), block.size(), 0);
        if (got < 0 && errno == EINTR)
            return std::string{};
        if (got <= 0)
            return ended("has gone");
        return std::string(block.data(), static_cast<std::size_t>(got));
    }

    Expected<void> write_all(std::string_view bytes) override
    {
        while (!bytes.empty()) {
            const ssize_t written = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (written < 0 && errno == EINTR)
                continue;
            if (written <= 0)
                return ended("has gone");
            bytes_written_ += static_cast<uint64_t>(written);
            bytes.remove_prefix(static_cast<std::size_t>(written));
        }
        return {};
    }

private:
    pid_t pid_;
    int fd_;
};
} // namespace

LocalTransport::LocalTransport(std::filesystem::path agent)
    : agent_(std::move(agent))
{
}

Expected<std::unique_ptr<ByteStream>> LocalTransport::open(std::stop_token)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return Problem{ProblemCode::io, std::string("no socket pair: ") + std::strerror(errno), {}, {}};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    // A Ctrl-C in the terminal is meant for the client, which then asks the agent to stop its ranks.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const std::string program = agent_.string();
    std::string command = "session";
    char* const argv[] = {const_cast<char*>(program.c_str()), command.data(), nullptr};
    pid_t pid = 0;
    const int error = posix_spawn(&pid, program.c_str(), &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    ::close(ends[1]);
    if (error != 0) {
        ::close(ends[0]);
        return Problem{ProblemCode::io, std::string("cannot be started: ") + std::strerror(error),
            "build or install fourfold-agent beside this program", program};
    }
    return std::unique_ptr<ByteStream>(std::make_unique<ChildStream>(pid, ends[0]));
}

} // namespace fourfold
