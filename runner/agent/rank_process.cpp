// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/rank_process.h"

#include "runner/agent/file_descriptor.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

extern char** environ;

namespace fourfold {

namespace {
// The network interface that carries `address`: NCCL and Gloo otherwise guess, often wrongly.
std::string interface_of(const std::string& address)
{
    ifaddrs* list = nullptr;
    if (address.empty() || getifaddrs(&list) != 0)
        return {};
    std::string found;
    for (const ifaddrs* item = list; item && found.empty(); item = item->ifa_next) {
        if (!item->ifa_addr)
            continue;
        char text[INET6_ADDRSTRLEN] = {};
        if (item->ifa_addr->sa_family == AF_INET)
            inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(item->ifa_addr)->sin_addr, text, sizeof text);
        else if (item->ifa_addr->sa_family == AF_INET6)
            inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(item->ifa_addr)->sin6_addr, text, sizeof text);
        if (address == text)
            found = item->ifa_name;
    }
    freeifaddrs(list);
    return found;
}

int usable_cores()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    return std::max(1, CPU_COUNT(&set));
}

std::vector<std::string> environment_of(
    const RunSpec& spec, const RankPlace& place, const std::filesystem::path& folder, const Rendezvous& rendezvous)
{
    std::map<std::string, std::string> variables;
    for (char** entry = environ; *entry; ++entry) {
        const std::string_view text = *entry;
        const std::size_t equals = text.find('=');
        // What belongs to the session that started the run must not leak into it.
        if (equals == std::string_view::npos || text.starts_with("SSH_") || text.starts_with("XDG_SESSION"))
            continue;
        variables[std::string(text.substr(0, equals))] = text.substr(equals + 1);
    }
    const int cores_per_rank = std::max(1, usable_cores() / static_cast<int>(spec.ranks.size()));
    variables.try_emplace("OMP_NUM_THREADS", std::to_string(cores_per_rank));
    if (const std::string interface = interface_of(spec.address); !interface.empty()) {
        variables.try_emplace("NCCL_SOCKET_IFNAME", interface);
        variables.try_emplace("GLOO_SOCKET_IFNAME", interface);
    }
    for (const auto& [key, value] : spec.environment)
        variables[key] = value;
    if (spec.library_path) {
        const std::string own = (folder / "bin").string();
        const std::string before = variables["LD_LIBRARY_PATH"];
        variables["LD_LIBRARY_PATH"] = before.empty() ? own : own + ":" + before;
    }
    variables["RANK"] = std::to_string(place.rank);
    variables["WORLD_SIZE"] = std::to_string(spec.world_size);
    variables["LOCAL_RANK"] = std::to_string(place.local_rank);
    variables["LOCAL_WORLD_SIZE"] = std::to_string(spec.ranks.size());
    variables["MASTER_ADDR"] = rendezvous.address;
    variables["MASTER_PORT"] = std::to_string(rendezvous.port);
    variables["FOURFOLD_ADDRESS"] = spec.address;
    variables["FOURFOLD_BACKEND"] = spec.backend;
    variables["FOURFOLD_RUN"] = spec.run;
    variables["FOURFOLD_NODE"] = std::to_string(spec.node);
    std::vector<std::string> out;
    for (const auto& [key, value] : variables)
        out.push_back(key + "=" + value);
    return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts)
{
    std::vector<char*> out;
    for (std::string& text : texts)
        out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}
} // namespace

Expected<pid_t> start_rank(
    const RunSpec& spec, const RankPlace& place, const std::filesystem::path& folder, const Rendezvous& rendezvous)
{
    const std::string program = (folder / spec.program).string();
    std::vector<std::string> arguments{
        program, "--plan", (folder / "plan.json").string(), "--run-dir", folder.string()};
    std::vector<std::string> environment = environment_of(spec, place, folder, rendezvous);
    const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
    FOURFOLD_TRY(const FileDescriptor log,
        open_file(folder / ("rank" + std::to_string(place.rank) + ".log"), O_WRONLY | O_CREAT | O_APPEND));
    FOURFOLD_TRY(const FileDescriptor null, open_file("/dev/null", O_RDWR));
    int failure_pipe[2];
    if (pipe2(failure_pipe, O_CLOEXEC) != 0)
        return errno_problem("no pipe for a rank", folder);
    FileDescriptor failure_in(failure_pipe[0]), failure_out(failure_pipe[1]);

    const pid_t supervisor = getpid();
    const pid_t pid = fork();
    if (pid < 0)
        return errno_problem("rank " + std::to_string(place.rank) + " cannot be started", folder);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != supervisor)
            _exit(126);
        setpgid(0, 0);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, nullptr);
        for (const int signal : {SIGHUP, SIGPIPE, SIGINT, SIGTERM, SIGCHLD})
            ::signal(signal, SIG_DFL);
        umask(077);
        dup2(null.get(), 0);
        dup2(log.get(), 1);
        dup2(log.get(), 2);
        if (chdir(folder.c_str()) == 0)
            execve(program.c_str(), argv.data(), envp.data());
        const int error = errno;
        (void)!write(failure_out.get(), &error, sizeof error);
        _exit(127);
    }
    failure_out.close();
    int error = 0;
    ssize_t got = 0;
    do {
        got = read(failure_in.get(), &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    if (got == sizeof error) {
        waitpid(pid, nullptr, 0);
        errno = error;
        Problem problem = errno_problem("the trainer cannot be executed", program);
        if (error == EACCES)
            problem.hint = "the file system of the base folder may be mounted noexec: choose another base_folder";
        return problem;
    }
    return pid;
}

std::string describe_exit(int wait_status)
{
    if (WIFSIGNALED(wait_status)) {
        const int signal = WTERMSIG(wait_status);
        const char* abbreviation = sigabbrev_np(signal);
        const char* description = sigdescr_np(signal);
        return std::string("killed by SIG") + (abbreviation ? abbreviation : std::to_string(signal).c_str())
            + (description ? std::string(" (") + description + ")" : std::string());
    }
    return "ended with exit status " + std::to_string(WEXITSTATUS(wait_status));
}

} // namespace fourfold
