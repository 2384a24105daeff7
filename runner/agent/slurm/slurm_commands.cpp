// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/slurm/slurm_commands.h"

#include "runner/agent/ranks/prelude.h"
#include "runner/agent/system/file_descriptor.h"
#include "runner/agent/system/processes.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <sstream>
#include <vector>

namespace fourfold {

namespace {

constexpr std::size_t kMostText = 1u << 20; // the last of it: warnings come first
constexpr double kCommandSeconds = 15; // slurmctld's own time-outs are of this size
constexpr std::array<const char*, 4> kPlaces{
    "/usr/bin", "/usr/local/bin", "/opt/slurm/bin", "/cm/shared/apps/slurm/current/bin"};

std::string program(const std::string& name)
{
    const char* path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    std::vector<std::string> places;
    for (std::string folder; std::getline(folders, folder, ':');)
        places.push_back(folder);
    places.insert(places.end(), kPlaces.begin(), kPlaces.end());
    for (const std::string& folder : places) {
        if (folder.starts_with('/') && access((folder + "/" + name).c_str(), X_OK) == 0)
            return folder + "/" + name;
    }
    return {};
}

// The few variables that a job needs; nothing else of the session goes into Slurm's records.
std::vector<std::string> plain_environment()
{
    std::vector<std::string> out;
    for (const auto& [key, value] : own_environment()) {
        if (key == "PATH" || key == "HOME" || key == "USER" || key == "LOGNAME" || key == "LANG" || key == "SHELL"
            || key == "MODULEPATH" || key == "SLURM_CONF")
            out.push_back(key + "=" + value);
    }
    return out;
}

SlurmAnswer call(std::vector<std::string> words)
{
    SlurmAnswer result;
    words[0] = program(words[0]);
    int ends[2];
    if (words[0].empty() || pipe2(ends, O_CLOEXEC) != 0)
        return result;
    FileDescriptor in(ends[0]), out(ends[1]);
    std::vector<std::string> environment = plain_environment();
    std::vector<char*> argv, envp;
    for (std::string& word : words)
        argv.push_back(word.data());
    for (std::string& variable : environment)
        envp.push_back(variable.data());
    argv.push_back(nullptr);
    envp.push_back(nullptr);
    const pid_t pid = fork();
    if (pid < 0)
        return result;
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int null = open("/dev/null", O_RDONLY);
        dup2(null, 0);
        dup2(out.get(), 1);
        dup2(out.get(), 2);
        signal(SIGTERM, SIG_DFL);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, nullptr);
        execve(argv[0], argv.data(), envp.data());
        _exit(127);
    }
    out.close();
    const double deadline = monotonic_seconds() + kCommandSeconds;
    std::array<char, 4096> block{};
    while (monotonic_seconds() < deadline) {
        pollfd waiting{in.get(), POLLIN, 0};
        if (poll(&waiting, 1, 100) <= 0)
            continue;
        const ssize_t got = read(in.get(), block.data(), block.size());
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        result.text.append(block.data(), static_cast<std::size_t>(got));
        if (result.text.size() > 2 * kMostText) // what it prints without end is read all the same: else it would wait
            result.text.erase(0, result.text.size() - kMostText);
    }
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(pid, &status, WNOHANG)) == 0 && monotonic_seconds() < deadline)
        usleep(5000);
    if (ended == 0) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    result.status = ended == 0 || !WIFEXITED(status) ? -1 : WEXITSTATUS(status);
    return result;
}

std::string one_line(std::string text)
{
    std::replace(text.begin(), text.end(), '\n', ' ');
    while (!text.empty() && text.back() == ' ')
        text.pop_back();
    return text.substr(0, 500);
}

std::string field(const std::string& text, const std::string& key)
{
    const std::string mark = key + "=";
    std::size_t at = text.find(mark);
    while (at != std::string::npos && at > 0 && text[at - 1] != ' ')
        at = text.find(mark, at + 1);
    if (at == std::string::npos)
        return {};
    at += mark.size();
    return text.substr(at, text.find_first_of(" \n", at) - at);
}

} // namespace

bool has_slurm_program(const std::string& name)
{
    return !program(name).empty();
}

SlurmAnswer ask_slurm(const std::vector<std::string>& words)
{
    return call(words);
}

SlurmJob parse_squeue(const std::string& text)
{
    SlurmJob job;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t first = line.find('|'), second = line.find('|', first + 1);
        if (first == std::string::npos || second == std::string::npos)
            continue;
        job = {line.substr(0, first), line.substr(first + 1, second - first - 1), line.substr(second + 1), false, 0, 0,
            true};
        if (job.reason == "None")
            job.reason.clear();
        break;
    }
    return job;
}

SlurmJob parse_scontrol(const std::string& text)
{
    SlurmJob job{field(text, "JobState"), field(text, "Reason"), field(text, "NodeList"), false, 0, 0, true};
    job.restarts = std::atoi(field(text, "Restarts").c_str());
    tm end{};
    if (strptime(field(text, "EndTime").c_str(), "%Y-%m-%dT%H:%M:%S", &end)) { // local time of the cluster
        end.tm_isdst = -1;
        job.end_time = mktime(&end);
    }
    const std::string preempted = field(text, "PreemptTime");
    job.preempted = !preempted.empty() && preempted != "None";
    if (job.reason == "None")
        job.reason.clear();
    if (job.nodes == "(null)")
        job.nodes.clear();
    return job;
}

Expected<std::string> submit_job(const std::filesystem::path& script, const std::filesystem::path& folder)
{
    if (!has_slurm_program("sbatch"))
        return Problem{ProblemCode::not_found, "sbatch is not on this host",
            "set slurm.login to a login host of the cluster", "Slurm"};
    const SlurmAnswer result = call({"sbatch", "--parsable", "--chdir=" + folder.string(), script.string()});
    std::istringstream words(result.text);
    std::string line, job;
    while (std::getline(words, line)) { // warnings may stand before the number
        const std::string number = line.substr(0, line.find(';'));
        if (!number.empty() && std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; }))
            job = number;
    }
    if (result.status != 0 || job.empty())
        return Problem{ProblemCode::failed,
            result.status < 0 ? "sbatch did not answer"
                : one_line(result.text).empty()
                ? "sbatch printed nothing and ended with exit status " + std::to_string(result.status)
                : "sbatch refused the job: " + one_line(result.text),
            "see `fourfold run --dry-run` for the script; check partition, account and limits of the target", "Slurm"};
    return job;
}

SlurmJob look_at_job(const std::string& job)
{
    const SlurmAnswer control = call({"scontrol", "-o", "show", "job", job});
    if (control.status == 0) {
        if (SlurmJob found = parse_scontrol(control.text); !found.state.empty())
            return found;
    }
    const SlurmAnswer queue = call({"squeue", "-h", "-t", "all", "-o", "%T|%r|%N", "-j", job});
    if (queue.status == 0) {
        if (SlurmJob found = parse_squeue(queue.text); !found.state.empty())
            return found;
    }
    // An answer that the job is not known differs from no answer.
    const bool unknown = queue.text.find("Invalid job id") != std::string::npos
        || control.text.find("Invalid job id") != std::string::npos;
    const bool empty = queue.status == 0 && queue.text.find_first_not_of(" \n") == std::string::npos;
    return {{}, {}, {}, false, 0, 0, unknown || empty}; // what is no answer says nothing of the job
}

void cancel_job(const std::string& job)
{
    (void)call({"scancel", job});
}

std::vector<std::string> cancel_jobs_in(const std::filesystem::path& folder)
{
    std::vector<std::string> out;
    if (!has_slurm_program("squeue"))
        return out;
    std::istringstream lines(call({"squeue", "-h", "--me", "-o", "%i|%Z"}).text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t end = line.find('|');
        if (end == std::string::npos || line.substr(end + 1) != folder.string())
            continue;
        out.push_back(line.substr(0, end));
        cancel_job(out.back());
    }
    return out;
}

bool is_final(const std::string& state)
{
    static constexpr std::array<std::string_view, 11> kFinal{"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE",
        "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT", "SPECIAL_EXIT"};
    return std::any_of(kFinal.begin(), kFinal.end(), [&](std::string_view final) { return state.starts_with(final); });
}

RunState status_of_state(const std::string& state)
{
    if (state.starts_with("PREEMPTED"))
        return RunState::preempted;
    if (state.starts_with("CANCELLED") || state.starts_with("REVOKED"))
        return RunState::cancelled;
    if (state.starts_with("OUT_OF_MEMORY"))
        return RunState::oom;
    if (state.starts_with("TIMEOUT") || state.starts_with("DEADLINE"))
        return RunState::fail;
    return RunState::lost; // what the ranks did last is not known
}

std::string words_of_state(const std::string& state)
{
    if (state.starts_with("NODE_FAIL"))
        return "Slurm lost a node of the job (NODE_FAIL)";
    if (state.starts_with("TIMEOUT") || state.starts_with("DEADLINE"))
        return "the job reached its time limit (" + state + "); raise slurm.time of the target";
    if (state.starts_with("PREEMPTED"))
        return "the job was preempted";
    if (state.starts_with("CANCELLED"))
        return "the job was cancelled outside Fourfold (scancel)";
    if (state.starts_with("OUT_OF_MEMORY"))
        return "Slurm ended the job: out of memory";
    return state.empty() ? "Slurm does not know the job any more" : "Slurm says " + state;
}

} // namespace fourfold
