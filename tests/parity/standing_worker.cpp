// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/standing_worker.h"

#include "core/base/json.h"

#include <array>
#include <csignal>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace fourfold::testing {

StandingWorker::StandingWorker(std::filesystem::path program)
    : program_(std::move(program))
{
}

StandingWorker::~StandingWorker()
{
    end();
}

void StandingWorker::start()
{
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw std::runtime_error("no socket pair");
    constexpr int kLine = 3;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (ends[1] == kLine) // a descriptor that is copied onto itself would be closed
        ends[1] = ::fcntl(kLine, F_DUPFD_CLOEXEC, kLine + 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], kLine);
    std::string name = program_.string(), option = "--standing";
    std::array<char*, 3> argv{name.data(), option.data(), nullptr};
    const int error = ::posix_spawn(&pid_, name.c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    line_ = ends[0];
    if (error != 0) {
        pid_ = -1;
        throw std::runtime_error("cannot start " + name);
    }
}

void StandingWorker::end()
{
    if (line_ >= 0)
        ::close(std::exchange(line_, -1));
    if (pid_ <= 0)
        return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
}

int StandingWorker::run(const std::vector<std::string>& arguments,
    const std::map<std::string, std::string>& environment, const std::filesystem::path& log, std::chrono::seconds limit)
{
    if (pid_ < 0)
        start();
    Json job{{"arguments", arguments}, {"environment", environment}, {"log", log.string()}};
    job["arguments"].insert(job["arguments"].begin(), program_.string());
    const std::string text = job.dump();
    std::array<char, 16> answer{};
    pollfd ready{line_, POLLIN, 0};
    if (::send(line_, text.data(), text.size(), MSG_NOSIGNAL) == ssize_t(text.size())
        && ::poll(&ready, 1, int(std::chrono::milliseconds(limit).count())) == 1) {
        if (const ssize_t size = ::recv(line_, answer.data(), answer.size() - 1, 0); size > 0)
            return std::stoi(answer.data());
    }
    end(); // the next job has a worker of its own
    return -1;
}

} // namespace fourfold::testing
