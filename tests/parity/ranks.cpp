// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/ranks.h"

#include "core/base/random_token.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <arpa/inet.h>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace fourfold::testing {

namespace {
pid_t spawn(const std::vector<std::string>& command, std::map<std::string, std::string> environment,
    const std::filesystem::path& log)
{
    for (char** entry = environ; *entry; ++entry) {
        const std::string text = *entry;
        const auto equals = text.find('=');
        environment.try_emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    std::vector<std::string> variables;
    for (const auto& [name, value] : environment)
        variables.push_back(name + "=" + value);
    std::vector<char*> argv, envp;
    for (const auto& part : command)
        argv.push_back(const_cast<char*>(part.c_str()));
    for (const auto& part : variables)
        envp.push_back(const_cast<char*>(part.c_str()));
    argv.push_back(nullptr);
    envp.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t pid = -1;
    const int error = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), envp.data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        throw std::runtime_error("cannot start " + command[0]);
    return pid;
}

int status_of(int raw)
{
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
}
} // namespace

// Below the range that the system takes ports of outgoing connections from (Linux: from 32768): between this check and
// the moment in which rank 0 listens, the connections of a job beside it could take any of those.
int free_port()
{
    constexpr int kFirst = 12000, kPorts = 20000, kSpread = 37;
    static int tried = 0;
    for (int i = 0; i < kPorts; ++i) {
        const int port = kFirst + (::getpid() * kSpread + tried++) % kPorts;
        const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(std::uint16_t(port));
        const bool is_free = ::bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
        ::close(descriptor);
        if (is_free)
            return port;
    }
    throw std::runtime_error("no free port on loopback");
}

std::map<std::string, std::string> rank_environment(int rank, int count)
{
    return {{"RANK", std::to_string(rank)}, {"WORLD_SIZE", std::to_string(count)}, {"LOCAL_RANK", std::to_string(rank)},
        {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", std::to_string(free_port())}, {"FOURFOLD_ADDRESS", "127.0.0.1"},
        {"FOURFOLD_TOKEN", random_token(32)}, {"FOURFOLD_BACKEND", ""}, {"OMP_NUM_THREADS", "1"}};
}

Ranks::Ranks(int count, const std::vector<std::string>& command, const std::filesystem::path& folder,
    const std::map<std::string, std::string>& environment)
    : folder_(folder)
    , statuses_(std::size_t(count), -1)
{
    const auto meeting = rank_environment(0, count);
    for (int rank = 0; rank < count; ++rank) {
        std::map<std::string, std::string> own{{"RANK", std::to_string(rank)}, {"LOCAL_RANK", std::to_string(rank)}};
        own.insert(meeting.begin(), meeting.end());
        for (const auto& [name, value] : environment)
            own[name] = value;
        pids_.push_back(spawn(command, own, folder_ / ("rank" + std::to_string(rank) + ".log")));
    }
}

Ranks::~Ranks()
{
    for (pid_t& pid : pids_)
        if (pid > 0) {
            ::kill(pid, SIGKILL);
            ::waitpid(pid, nullptr, 0);
        }
}

std::vector<int> Ranks::wait(std::chrono::seconds limit)
{
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (std::ranges::any_of(pids_, [](pid_t pid) { return pid > 0; })) {
        for (std::size_t r = 0; r < pids_.size(); ++r) {
            int raw = 0;
            if (pids_[r] > 0 && ::waitpid(pids_[r], &raw, WNOHANG) == pids_[r]) {
                statuses_[r] = status_of(raw);
                pids_[r] = -1;
            }
        }
        if (std::chrono::steady_clock::now() > deadline)
            break;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    for (pid_t& pid : pids_)
        if (pid > 0) {
            ::kill(pid, SIGKILL);
            ::waitpid(pid, nullptr, 0);
            pid = -1;
        }
    return statuses_;
}

void Ranks::signal(int rank, int number)
{
    if (pids_.at(std::size_t(rank)) > 0)
        ::kill(pids_[std::size_t(rank)], number);
}

void Ranks::limit_file_size(int rank, std::size_t bytes)
{
    rlimit limit{};
    const pid_t pid = pids_.at(std::size_t(rank));
    const bool known = ::prlimit(pid, RLIMIT_FSIZE, nullptr, &limit) == 0;
    limit.rlim_cur = std::min<rlim_t>(bytes, limit.rlim_max); // the hard limit stays: it could not be raised again
    if (!known || ::prlimit(pid, RLIMIT_FSIZE, &limit, nullptr) != 0)
        throw std::runtime_error("cannot limit rank " + std::to_string(rank));
}

std::string Ranks::log(int rank) const
{
    return log_of(folder_, rank);
}

std::string log_of(const std::filesystem::path& folder, int rank)
{
    std::ifstream file(folder / ("rank" + std::to_string(rank) + ".log"));
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<Json> Ranks::events(int rank) const
{
    std::ifstream file(folder_ / ("rank" + std::to_string(rank) + ".jsonl"));
    std::vector<Json> events;
    for (std::string line; std::getline(file, line);)
        events.push_back(Json::parse(line));
    return events;
}

bool Ranks::wait_for_events(int rank, const std::string& event, int count, std::chrono::seconds limit) const
{
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < deadline) {
        const auto all = events(rank);
        if (std::ranges::count_if(all, [&](const Json& e) { return e["event"] == event; }) >= count)
            return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
}

std::filesystem::path trainer_program()
{
    return std::filesystem::path(FOURFOLD_BIN_DIR) / "fourfold-trainer";
}
std::filesystem::path cuda_trainer_program()
{
    return std::filesystem::path(FOURFOLD_BIN_DIR) / "fourfold-trainer-cuda";
}
std::filesystem::path parity_worker()
{
    return std::filesystem::path(FOURFOLD_TEST_BIN_DIR) / "parity-worker";
}
std::filesystem::path cuda_parity_worker()
{
    return std::filesystem::path(FOURFOLD_TEST_BIN_DIR) / "parity-worker-cuda";
}

} // namespace fourfold::testing
