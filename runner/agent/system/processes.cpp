// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/system/processes.h"

#include "runner/agent/system/file_descriptor.h"

#include <dirent.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <map>
#include <optional>

namespace fourfold {

namespace {
std::vector<pid_t> all_pids()
{
    std::vector<pid_t> out;
    DIR* folder = opendir("/proc");
    if (!folder)
        return out;
    while (const dirent* entry = readdir(folder)) {
        const std::string_view text = entry->d_name;
        pid_t pid = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
        if (error == std::errc{} && end == text.data() + text.size())
            out.push_back(pid);
    }
    closedir(folder);
    return out;
}

std::string proc_file(pid_t pid, const char* name)
{
    return slurp("/proc/" + std::to_string(pid) + "/" + name);
}

// Fields of /proc/<pid>/stat from the third on; the second, the name, may itself hold blanks and parentheses.
std::vector<std::string> stat_fields(pid_t pid)
{
    const std::string text = proc_file(pid, "stat");
    std::vector<std::string> out;
    std::size_t at = text.rfind(')');
    if (at == std::string::npos)
        return out;
    at += 2;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
        out.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

long long field_number(const std::vector<std::string>& fields, std::size_t index)
{
    long long value = -1;
    if (index < fields.size())
        std::from_chars(fields[index].data(), fields[index].data() + fields[index].size(), value);
    return value;
}

bool is_zombie(pid_t pid)
{
    const auto fields = stat_fields(pid);
    return fields.empty() || fields[0] == "Z" || fields[0] == "X";
}

// The value of a variable in the text of /proc/<pid>/environ; nothing when it has none.
std::optional<std::string> variable_of(const std::string& environment, const std::string& name)
{
    const std::string key = name + "=";
    for (std::size_t at = 0; at < environment.size();) {
        const std::size_t end = std::min(environment.find('\0', at), environment.size());
        if (environment.compare(at, key.size(), key) == 0)
            return environment.substr(at + key.size(), end - at - key.size());
        at = end + 1;
    }
    return {};
}

std::vector<pid_t> pids_of_run(const std::string& run, int node)
{
    std::vector<pid_t> out;
    for (const RunProcess& process : run_processes()) {
        if (process.run == run && process.node == node)
            out.push_back(process.identity.pid);
    }
    return out;
}
} // namespace

std::string boot_id()
{
    std::string id = slurp("/proc/sys/kernel/random/boot_id");
    while (!id.empty() && id.back() == '\n')
        id.pop_back();
    return id;
}

long long start_time(pid_t pid)
{
    return field_number(stat_fields(pid), 19);
}

ProcessIdentity own_identity()
{
    return {getpid(), start_time(getpid()), boot_id()};
}

bool is_alive(const ProcessIdentity& process)
{
    return process.pid > 0 && process.boot_id == boot_id() && start_time(process.pid) == process.start_time
        && !is_zombie(process.pid);
}

bool send_signal(const ProcessIdentity& process, int signal)
{
    // The pidfd is taken first and the identity checked after: from then on the number cannot mean another process.
    const FileDescriptor pidfd(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
    if (!pidfd.valid() && errno != ENOSYS)
        return false;
    if (!is_alive(process))
        return false;
    if (pidfd.valid())
        return syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0) == 0;
    return kill(process.pid, signal) == 0;
}

std::vector<pid_t> descendants(pid_t root)
{
    std::multimap<pid_t, pid_t> children;
    for (const pid_t pid : all_pids()) {
        const auto fields = stat_fields(pid);
        children.emplace(static_cast<pid_t>(field_number(fields, 1)), pid);
    }
    std::vector<pid_t> out, open{root};
    while (!open.empty()) {
        const pid_t parent = open.back();
        open.pop_back();
        const auto [begin, end] = children.equal_range(parent);
        for (auto it = begin; it != end; ++it) {
            out.push_back(it->second);
            open.push_back(it->second);
        }
    }
    return out;
}

pid_t parent_of(pid_t pid)
{
    return static_cast<pid_t>(field_number(stat_fields(pid), 1));
}

bool is_stopped(pid_t pid)
{
    const auto fields = stat_fields(pid);
    return !fields.empty() && (fields[0] == "T" || fields[0] == "t");
}

std::vector<RunProcess> run_processes()
{
    std::vector<RunProcess> out;
    const std::string boot = boot_id();
    for (const pid_t pid : all_pids()) {
        const std::string environment = proc_file(pid, "environ");
        const auto run = variable_of(environment, "FOURFOLD_RUN");
        if (!run || pid == getpid() || is_zombie(pid))
            continue;
        out.push_back({{pid, start_time(pid), boot}, *run,
            std::atoi(variable_of(environment, "FOURFOLD_NODE").value_or("0").c_str()),
            variable_of(environment, "FOURFOLD_FOLDER").value_or("")});
    }
    return out;
}

std::vector<ProcessIdentity> holders_of(const std::filesystem::path& file)
{
    std::vector<ProcessIdentity> out;
    std::error_code error;
    for (const pid_t pid : all_pids()) {
        const std::filesystem::path open = "/proc/" + std::to_string(pid) + "/fd";
        for (const auto& entry : std::filesystem::directory_iterator(open, error)) {
            if (pid == getpid() || std::filesystem::read_symlink(entry.path(), error) != file)
                continue;
            out.push_back({pid, start_time(pid), boot_id()});
            break;
        }
    }
    return out;
}

int count_of_run(const std::string& run, int node)
{
    return static_cast<int>(pids_of_run(run, node).size());
}

int sweep(const std::string& run, int node, double seconds)
{
    const double deadline = monotonic_seconds() + seconds;
    int most = 0;
    for (;;) {
        const std::vector<pid_t> found = pids_of_run(run, node);
        most = std::max(most, static_cast<int>(found.size()));
        if (found.empty())
            return most;
        const std::string boot = boot_id();
        for (const pid_t pid : found) {
            const ProcessIdentity process{pid, start_time(pid), boot};
            // Between reading the environment and here the number may have changed hands: look again.
            if (variable_of(proc_file(pid, "environ"), "FOURFOLD_RUN") == run)
                send_signal(process, SIGKILL);
        }
        if (monotonic_seconds() > deadline)
            return most;
        usleep(5000);
    }
}

std::string processes_text(int count)
{
    return std::to_string(count) + (count == 1 ? " process" : " processes");
}

double monotonic_seconds()
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

} // namespace fourfold
