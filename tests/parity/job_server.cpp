// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/job_server.h"

#include "core/base/json.h"

#include <array>
#include <stdexcept>
#include <string_view>

#include <csignal>
#include <cstdlib>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace fourfold::testing {

JobServer::JobServer(const std::filesystem::path& worker)
    : worker_(worker)
{
    start();
}

JobServer::~JobServer()
{
    end();
}

void JobServer::start()
{
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw std::runtime_error("cannot make a pair of sockets");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    std::vector<char*> variables;
    for (char** entry = environ; *entry; ++entry)
        if (!std::string_view(*entry).starts_with("OMP_NUM_THREADS="))
            variables.push_back(*entry);
    std::string threads = "OMP_NUM_THREADS=1"; // read while the library is loaded
    variables.push_back(threads.data());
    variables.push_back(nullptr);
    std::string name = worker_, flag = "--serve";
    std::array<char*, 3> arguments{name.data(), flag.data(), nullptr};
    const int error = ::posix_spawn(&pid_, name.c_str(), &actions, nullptr, arguments.data(), variables.data());
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    socket_ = ends[0];
    if (error != 0) {
        pid_ = -1;
        end();
        throw std::runtime_error("cannot start " + worker_.string());
    }
}

void JobServer::end()
{
    if (socket_ >= 0)
        ::close(socket_);
    socket_ = -1;
    if (pid_ > 0) { // its children are killed with it
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    pid_ = -1;
}

bool JobServer::run(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment,
    const std::filesystem::path& log, std::chrono::seconds limit)
{
    if (pid_ < 0)
        start();
    const std::string line
        = Json{{"arguments", arguments}, {"environment", environment}, {"log", log.string()}}.dump() + "\n";
    if (::send(socket_, line.data(), line.size(), MSG_NOSIGNAL) != ssize_t(line.size()))
        throw std::runtime_error("the server of jobs is gone");
    const auto deadline = std::chrono::steady_clock::now() + limit;
    for (;;) {
        const auto left
            = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        pollfd answer{socket_, POLLIN, 0};
        const int ready = left.count() > 0 ? ::poll(&answer, 1, int(left.count())) : 0;
        if (ready < 0)
            continue; // interrupted
        char done = 0;
        if (ready > 0 && ::read(socket_, &done, 1) == 1)
            return true;
        end();
        return false;
    }
}

} // namespace fourfold::testing
