// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/system/program_output.h"

#include "runner/agent/system/file_descriptor.h"
#include "runner/agent/system/processes.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

namespace fourfold {

std::string output_of(std::vector<const char*> argv, double seconds, bool errors)
{
    argv.push_back(nullptr);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return {};
    FileDescriptor in(ends[0]), out(ends[1]);
    const pid_t pid = fork();
    if (pid < 0)
        return {};
    if (pid == 0) {
        dup2(out.get(), 1);
        if (errors)
            dup2(out.get(), 2);
        execv(argv[0], const_cast<char* const*>(argv.data()));
        _exit(127);
    }
    out.close();
    std::string text;
    const double deadline = monotonic_seconds() + seconds;
    char block[4096];
    while (monotonic_seconds() < deadline && text.size() < 65536) {
        pollfd waiting{in.get(), POLLIN, 0};
        if (poll(&waiting, 1, 100) <= 0)
            continue;
        const ssize_t got = read(in.get(), block, sizeof block);
        if (got <= 0)
            break;
        text.append(block, static_cast<std::size_t>(got));
    }
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return text;
}

std::string nvidia_smi()
{
    for (const char* program : {"/usr/bin/nvidia-smi", "/bin/nvidia-smi", "/usr/local/bin/nvidia-smi"}) {
        if (access("/proc/driver/nvidia/version", R_OK) == 0 && access(program, X_OK) == 0)
            return program;
    }
    return {};
}

std::string ask_nvidia_smi(std::vector<const char*> arguments)
{
    constexpr double kPatience = 10; // seconds
    static std::atomic<bool> hangs{false};
    const std::string program = nvidia_smi();
    if (program.empty() || hangs)
        return {};
    arguments.insert(arguments.begin(), program.c_str());
    const double begin = monotonic_seconds();
    std::string text = output_of(std::move(arguments), kPatience);
    hangs = monotonic_seconds() - begin >= kPatience;
    return text;
}

} // namespace fourfold
