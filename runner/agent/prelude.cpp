// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/prelude.h"

#include "runner/agent/event_merge.h"
#include "runner/agent/file_descriptor.h"
#include "runner/agent/processes.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

extern char** environ;

namespace fourfold {

namespace {

constexpr std::size_t kMostBytes = 4u << 20;

Environment parse(std::string_view text)
{
    Environment out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\0'), text.size());
        const std::string_view entry = text.substr(0, end);
        const std::size_t equals = entry.find('=');
        // What belongs to the session that started the run must not leak into it.
        if (equals != std::string_view::npos && equals > 0 && !entry.starts_with("SSH_")
            && !entry.starts_with("XDG_SESSION") && !entry.starts_with("_="))
            out[std::string(entry.substr(0, equals))] = entry.substr(equals + 1);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

std::string script_of(const RunSpec& spec)
{
    std::string script;
    for (std::size_t i = 0; i < spec.prelude.size(); ++i)
        script += spec.prelude[i] + "\nfourfold_status=$?; [ $fourfold_status -eq 0 ] || { echo \"line "
            + std::to_string(i + 1) + " ended with status $fourfold_status\" >&2; exit 97; }\n";
    return script + "unset fourfold_status; cat /proc/self/environ >&9\n";
}

// Its last lines, for a message.
std::string last_words(const std::filesystem::path& log)
{
    std::string out;
    for (const Json& line : last_log_lines(log, 3))
        out += (out.empty() ? "" : " | ") + line.get<std::string>();
    return out.empty() ? "it printed nothing" : "it printed: " + out;
}

} // namespace

Environment own_environment()
{
    std::string text;
    for (char** entry = environ; *entry; ++entry)
        text += std::string(*entry) + '\0';
    return parse(text);
}

Expected<Environment> run_prelude(const RunSpec& spec, const std::filesystem::path& folder)
{
    if (spec.prelude.empty())
        return own_environment();
    const auto script = folder / "prelude.sh", log_file = folder / "prelude.log";
    FOURFOLD_CHECK(write_file_atomically(script, script_of(spec)));
    FOURFOLD_TRY(const FileDescriptor log, open_file(log_file, O_WRONLY | O_CREAT | O_TRUNC));
    FOURFOLD_TRY(const FileDescriptor null, open_file("/dev/null", O_RDONLY));
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno_problem("no pipe for the prelude", folder);
    FileDescriptor in(ends[0]), out(ends[1]);
    // `module` and the like are functions that a login shell defines.
    const bool bash = access("/bin/bash", X_OK) == 0;
    const char* const shell = bash ? "/bin/bash" : "/bin/sh";
    const std::string script_name = script.string();
    const char* const argv[] = {shell, "-l", script_name.c_str(), nullptr};
    const pid_t pid = fork();
    if (pid < 0)
        return errno_problem("the prelude cannot be started", folder);
    if (pid == 0) {
        setpgid(0, 0);
        dup2(null.get(), 0);
        dup2(log.get(), 1);
        dup2(log.get(), 2);
        dup2(out.get(), 9);
        if (chdir(folder.c_str()) == 0)
            execv(shell, const_cast<char* const*>(argv));
        _exit(127);
    }
    setpgid(pid, pid);
    out.close();
    std::string text;
    const double deadline = monotonic_seconds() + spec.limits.prelude_s;
    bool late = false;
    char block[65536];
    for (;;) {
        if (monotonic_seconds() > deadline || text.size() > kMostBytes) {
            late = true;
            break;
        }
        pollfd waiting{in.get(), POLLIN, 0};
        if (poll(&waiting, 1, 100) <= 0)
            continue;
        const ssize_t got = read(in.get(), block, sizeof block);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        text.append(block, static_cast<std::size_t>(got));
    }
    if (late)
        kill(-pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    const auto failed = [&](const std::string& message) -> Problem {
        return {ProblemCode::failed, "the prelude " + message + "; " + last_words(log_file),
            "try its lines by hand in a login shell on the node", spec.host};
    };
    if (late)
        return failed("did not end within " + std::to_string(static_cast<int>(spec.limits.prelude_s)) + " s");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return failed("failed");
    Environment environment = parse(text);
    if (environment.empty())
        return failed("left no environment (does it call exit or exec?)");
    return environment;
}

} // namespace fourfold
