// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/ranks/prelude.h"

#include "core/base/input_file.h"
#include "core/base/text.h"
#include "runner/agent/ranks/rank_log.h"
#include "runner/agent/ranks/rank_process.h"
#include "runner/agent/run/event_merge.h"
#include "runner/agent/system/processes.h"
#include "runner/agent/system/program_output.h"
#include "runner/protocol/message.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

extern char** environ;

namespace fourfold {

namespace {

constexpr std::size_t kMostEnvironmentBytes = 4u << 20; // of the environment
constexpr double kShellReads = 5; // seconds, for a shell that reads a few lines
constexpr int kPreludeLineFailed = 97; // the script's exit status behind "line N ended with status S"
constexpr uint64_t kLogPart
    = 1u << 20; // of prelude.log: so much of its beginning, and at most twice as much of its end

Environment parse(std::string_view text)
{
    Environment out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\0'), text.size());
        const std::string_view entry = text.substr(0, end);
        const std::size_t equals = entry.find('=');
        if (equals != std::string_view::npos && equals > 0)
            out[std::string(entry.substr(0, equals))] = entry.substr(equals + 1);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

Environment environment_of_process()
{
    std::string text;
    for (char** entry = environ; *entry; ++entry)
        text += std::string(*entry) + '\0';
    return parse(text);
}

// What belongs to the session that started the run must not leak into it; what the prelude set is the prelude's.
Environment without_session(Environment environment, const Environment& of_session)
{
    std::erase_if(environment, [&](const auto& variable) {
        const auto& [name, value] = variable;
        const auto inherited = of_session.find(name);
        return name == "_" || name == "FOURFOLD_RUN" || name == "FOURFOLD_NODE"
            || ((name.starts_with("SSH_") || name.starts_with("XDG_SESSION")) && inherited != of_session.end()
                && inherited->second == value);
    });
    return environment;
}

// `module` and the like are functions that a login shell defines.
const char* login_shell()
{
    return access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
}

std::string said_of(const std::string& text, const char* shell)
{
    const std::string asked = "\n" + text; // no text is taken for an option
    return output_of({shell, "-n", "-c", asked.c_str()}, kShellReads, true);
}

// A backslash at the very end is no complaint of the shell's.
bool goes_on_in_the_next_line(const std::string& line)
{
    const std::size_t other = line.find_last_not_of('\\');
    return (line.size() - (other == std::string::npos ? 0 : other + 1)) % 2 != 0;
}

// A command may go on over several lines (`if`, `case`, a here document, a backslash at the end): what counts is the
// status of the whole.
std::string script_of(const std::vector<std::string>& lines, const char* shell)
{
    const std::string nothing_wrong = said_of("", shell); // it may complain of a locale that the node has not
    std::string script, begun;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        begun += lines[i] + "\n";
        if (goes_on_in_the_next_line(lines[i]) || said_of(begun, shell) != nothing_wrong)
            continue;
        script += begun + "fourfold_status=$?; [ $fourfold_status -eq 0 ] || { echo \"line " + std::to_string(i + 1)
            + " ended with status $fourfold_status\" >&2; exit " + std::to_string(kPreludeLineFailed) + "; }\n";
        begun.clear();
    }
    // The prelude's own PATH may lead nowhere else than to what it is for, and its functions may have any name.
    return script + begun + "unset fourfold_status; command -p cat /proc/self/environ >&9\n";
}

// A line that failed has said so itself.
std::string how_it_failed(int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == kPreludeLineFailed)
        return "failed";
    return (WIFSIGNALED(status) ? "was " : "") + describe_exit(status);
}

// Its last lines, for a message.
std::string last_words(const std::filesystem::path& log)
{
    std::string out;
    for (const Json& line : last_log_lines(log, 3))
        out += (out.empty() ? "" : " | ") + line.get<std::string>();
    return out.empty() ? "it printed nothing" : "it printed: " + out;
}

// Closes what this process has open but for `kept` and the standard streams, which become /dev/null.
void keep_only(const std::vector<int>& kept)
{
    std::vector<int> open;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error))
        open.push_back(std::atoi(entry.path().filename().c_str()));
    for (const int fd : open) {
        if (fd > 2 && std::find(kept.begin(), kept.end(), fd) == kept.end())
            close(fd);
    }
    const int null = ::open("/dev/null", O_RDWR);
    for (const int fd : {0, 1, 2})
        dup2(null, fd);
    close(null);
}

// Between the session and the prelude: takes its output, waits for its shell, tells the session, and stays as long as
// something of the prelude runs on, to end that with the run. All that the prelude starts and leaves becomes its child.
class PreludeKeeper {
public:
    // `environment`: a file for what the prelude leaves. `alive`: hangs up when nobody wants its processes any more.
    PreludeKeeper(const RunSpec& spec, const std::filesystem::path& folder, int environment, int alive)
        : spec_(spec)
        , folder_(folder)
        , environment_(environment)
        , alive_(alive)
    {
    }

    // The answer: {status} of the shell, or {late}; and {left}, names of what runs on.
    [[noreturn]] void run(FileDescriptor answer)
    {
        setsid();
        umask(077);
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        for (const int signal : {SIGHUP, SIGPIPE, SIGTERM, SIGINT})
            ::signal(signal, SIG_IGN);
        keep_only({environment_, alive_, answer.get()});
        std::error_code ignored;
        std::filesystem::remove(folder_ / "prelude.log", ignored);
        auto log = RankLog::open(folder_ / "prelude.log", {kLogPart, kLogPart});
        const auto shell = log ? start_shell(log->write_end()) : Expected<pid_t>(log.error());
        if (!shell) {
            (void)write_fully(answer.get(), to_wire(error_reply(shell.error())));
            _exit(1);
        }
        log_ = std::move(*log);
        log_.started();
        Json said = wait_for(*shell);
        if (said.value("status", -1) != 0)
            end_all();
        else
            said["left"] = left_running();
        if (!reap())
            log_.close();
        (void)write_fully(answer.get(), to_wire(said));
        answer.close();
        while (reap() && !hung_up(250)) { }
        end_all();
        log_.close();
        _exit(0);
    }

private:
    Expected<pid_t> start_shell(int log)
    {
        const char* const shell = login_shell();
        const std::string script = (folder_ / "prelude.sh").string();
        const char* const argv[] = {shell, "-l", script.c_str(), nullptr};
        const pid_t pid = fork();
        if (pid < 0)
            return errno_problem("the prelude cannot be started", folder_);
        if (pid > 0)
            return pid;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, nullptr);
        for (const int signal : {SIGHUP, SIGPIPE, SIGXFSZ, SIGTERM, SIGINT})
            ::signal(signal, SIG_DFL);
        setenv("FOURFOLD_RUN", spec_.run.c_str(), 1); // by which everything of a run is found
        setenv("FOURFOLD_NODE", std::to_string(spec_.node).c_str(), 1);
        const int environment = fcntl(environment_, F_DUPFD, 10); // 9 may be taken
        dup2(log, 1);
        dup2(log, 2);
        dup2(environment, 9);
        close(environment);
        if (chdir(folder_.c_str()) == 0)
            execv(shell, const_cast<char* const*>(argv));
        _exit(127);
    }

    Json wait_for(pid_t shell)
    {
        const FileDescriptor ended(static_cast<int>(syscall(SYS_pidfd_open, shell, 0))); // where the kernel has them
        const double deadline = monotonic_seconds() + spec_.limits.prelude_s;
        shell_ = shell;
        while (monotonic_seconds() < deadline) {
            if (hung_up(50, ended.get()))
                break;
            reap();
            if (shell_ == 0)
                return {{"status", status_}};
        }
        return {{"late", true}};
    }

    // Waits for output, for `fd` or for so long; true when nobody wants the prelude's processes any more.
    bool hung_up(int milliseconds, int fd = -1)
    {
        pollfd waiting[] = {{log_.read_end(), POLLIN, 0}, {fd, POLLIN, 0}, {alive_, 0, 0}};
        poll(waiting, 3, milliseconds);
        log_.poll();
        return waiting[2].revents != 0;
    }

    // False when no child is left.
    bool reap()
    {
        int status = 0;
        pid_t pid = 0;
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
            if (pid == shell_) {
                shell_ = 0;
                status_ = status;
            }
        }
        return pid == 0;
    }

    // What is only just ending does not count.
    Json left_running()
    {
        for (const double until = monotonic_seconds() + 0.2; reap() && monotonic_seconds() < until;)
            hung_up(10);
        while (log_.poll()) { }
        Json names = Json::array();
        for (const pid_t pid : descendants(getpid())) {
            const std::string name = slurp("/proc/" + std::to_string(pid) + "/comm");
            names.push_back(printable(name.substr(0, name.find('\n')), 40) + " (pid " + std::to_string(pid) + ")");
        }
        return names;
    }

    void end_all()
    {
        for (const double until = monotonic_seconds() + 5; reap() && monotonic_seconds() < until; usleep(5000)) {
            for (const pid_t pid : descendants(getpid()))
                kill(pid, SIGKILL);
        }
    }

    const RunSpec& spec_;
    const std::filesystem::path& folder_;
    int environment_, alive_;
    RankLog log_;
    pid_t shell_ = 0;
    int status_ = 0;
};

// Until the keeper answers or is gone; false when the client is.
bool wait_for_keeper(const FileDescriptor& answer, int client)
{
    for (;;) {
        pollfd waiting[] = {{answer.get(), POLLIN, 0}, {client, POLLRDHUP, 0}}; // sshd gives a socket
        if (poll(waiting, 2, -1) < 0 && errno != EINTR)
            return true;
        if (waiting[0].revents != 0)
            return true;
        if (waiting[1].revents != 0)
            return false;
    }
}

// What the keeper says; it goes on by itself.
Expected<Json> start_keeper(const RunSpec& spec, const std::filesystem::path& folder, int client,
    const FileDescriptor& environment, FileDescriptor& alive)
{
    int answer[2], life[2];
    if (pipe2(answer, O_CLOEXEC) != 0)
        return errno_problem("no pipe for the prelude", folder);
    FileDescriptor answer_in(answer[0]), answer_out(answer[1]);
    if (pipe2(life, O_CLOEXEC) != 0)
        return errno_problem("no pipe for the prelude", folder);
    FileDescriptor life_in(life[0]);
    alive = FileDescriptor(life[1]);
    const pid_t middle = fork(); // nobody here has to wait for the keeper
    if (middle < 0)
        return errno_problem("the prelude cannot be started", folder);
    if (middle == 0) {
        if (const pid_t keeper = fork(); keeper != 0)
            _exit(keeper < 0 ? 1 : 0);
        PreludeKeeper(spec, folder, environment.get(), life_in.get()).run(std::move(answer_out));
    }
    answer_out.close();
    waitpid(middle, nullptr, 0);
    if (!wait_for_keeper(answer_in, client))
        return Problem{ProblemCode::cancelled, "nobody waits for the prelude any more", {}, spec.host};
    FOURFOLD_TRY(const std::string answer_text, read_to_end(answer_in.get(), "the prelude's answer", 1u << 20));
    if (answer_text.empty())
        return Problem{
            ProblemCode::failed, "the process that runs the prelude was killed", "does the prelude end it?", "prelude"};
    FOURFOLD_TRY(const Json said, parse_json(answer_text, "prelude"));
    if (text_field(said, "is") == "error")
        return problem_from_reply(said, {});
    return said;
}

// The user should know what goes on beside the ranks.
Expected<void> name_what_is_left(const Json& left, const RunSpec& spec, const std::filesystem::path& folder)
{
    constexpr std::size_t kMostNames = 5;
    std::string names;
    for (std::size_t i = 0; i < std::min(left.size(), kMostNames); ++i)
        names += (i == 0 ? "" : ", ") + left[i].get<std::string>();
    if (left.size() > kMostNames)
        names += " and " + std::to_string(left.size() - kMostNames) + " more";
    FOURFOLD_TRY(EventLog log, EventLog::open(folder / "events.jsonl"));
    log.append(-1,
        WarningEvent{.host = spec.host,
            .message = "the prelude left running: " + names + "; what still runs ends with the run"});
    return {};
}

} // namespace

Environment own_environment()
{
    const Environment all = environment_of_process();
    return without_session(all, all);
}

Expected<Prelude> run_prelude(const RunSpec& spec, const std::filesystem::path& folder, int client)
{
    if (spec.prelude.empty())
        return Prelude{own_environment(), {}};
    FOURFOLD_CHECK(write_file_atomically(folder / "prelude.sh", script_of(spec.prelude, login_shell())));
    // In memory: a token that a line exports is not for the disk. Not a pipe: what the prelude leaves running would
    // hold its end open.
    const FileDescriptor left(memfd_create("environment", MFD_CLOEXEC));
    if (!left.valid())
        return errno_problem("no memory for the prelude's environment", folder);
    Prelude prelude;
    FOURFOLD_TRY(const Json said, start_keeper(spec, folder, client, left, prelude.alive));
    const auto failed = [&](const std::string& message) -> Problem {
        return {ProblemCode::failed, "the prelude " + message + "; " + last_words(folder / "prelude.log"),
            "try its lines by hand in a login shell on the node", spec.host};
    };
    if (flag_field(said, "late"))
        return failed("did not end within " + std::to_string(static_cast<int>(spec.limits.prelude_s)) + " s");
    if (const auto status = static_cast<int>(integer_field(said, "status", -1)); status != 0)
        return failed(how_it_failed(status));
    const std::string text = slurp("/proc/self/fd/" + std::to_string(left.get()), kMostEnvironmentBytes + 1);
    if (text.size() > kMostEnvironmentBytes)
        return failed("left an environment of more than 4 MiB");
    prelude.environment = without_session(parse(text), environment_of_process());
    if (prelude.environment.empty())
        return failed("left no environment (does it call exit or exec?)");
    if (const Json& running = array_field(said, "left"); !running.empty())
        FOURFOLD_CHECK(name_what_is_left(running, spec, folder));
    return prelude;
}

} // namespace fourfold
