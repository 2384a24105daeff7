// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/ranks/rank_process.h"

#include "runner/agent/node/numa.h"
#include "runner/agent/system/file_descriptor.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fourfold {

namespace {
std::vector<char*> pointers(std::vector<std::string>& texts)
{
    std::vector<char*> out;
    for (std::string& text : texts)
        out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}
} // namespace

Expected<pid_t> start_rank(const RunSpec& spec, const RankPlace& place, const std::filesystem::path& folder,
    const Rendezvous& rendezvous, const Environment& before, int log)
{
    const auto visible = before.find("CUDA_VISIBLE_DEVICES");
    const std::vector<int> usable = usable_cores();
    const std::vector<int> cores
        = cores_of_rank(spec, place, usable, visible == before.end() ? std::string() : visible->second);
    const std::size_t share = std::max<std::size_t>(1, usable.size() / spec.ranks.size());
    FOURFOLD_TRY(std::vector<std::string> arguments, rank_command(spec, folder, before));
    std::vector<std::string> environment = rank_environment(
        spec, place, folder, rendezvous, before, cores.empty() ? share : std::min(share, cores.size()));
    const std::string program = arguments.front();
    const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
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
        for (const int signal : {SIGHUP, SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGCHLD})
            ::signal(signal, SIG_DFL);
        umask(077);
        if (place.rank == 0 && rendezvous.listener.valid())
            fcntl(rendezvous.listener.get(), F_SETFD, 0); // no other rank inherits it
        dup2(null.get(), 0);
        dup2(log, 1);
        dup2(log, 2);
        if (!cores.empty())
            (void)bind_to_cores(cores); // slower without, no more
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
    constexpr int kPolitely = 128 + SIGTERM; // the trainer's own status where it was asked to end
    const int status = WEXITSTATUS(wait_status);
    return "ended with exit status " + std::to_string(status)
        + (status == kPolitely ? ": a SIGTERM that did not come from this run asked it to end" : "");
}

} // namespace fourfold
