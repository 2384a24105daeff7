// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/supervision/supervisor.h"

#include "runner/agent/supervision/rank_supervision.h"
#include "runner/protocol/message.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace fourfold {

namespace {

// The supervisor's process; never returns. `ready` gets one JSON line: started or error.
[[noreturn]] void supervise(
    const RunFolder& folder, const RunSpec& spec, Rendezvous rendezvous, Environment environment, FileDescriptor ready)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigset_t mask;
    sigemptyset(&mask);
    for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGCHLD})
        sigaddset(&mask, signal);
    sigprocmask(SIG_BLOCK, &mask, nullptr);
    const FileDescriptor signals(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));

    const auto answer = [&](const Json& json) {
        (void)write_fully(ready.get(), to_wire(json));
        ready.close();
    };
    auto log = EventLog::open(folder.file("events.jsonl"));
    if (!log) {
        answer(error_reply(log.error()));
        _exit(1);
    }
    RankSupervision supervisor(folder, spec, std::move(*log), std::move(environment));
    if (const auto started = supervisor.start_ranks(rendezvous); !started) {
        for (const pid_t pid : descendants(getpid()))
            kill(pid, SIGKILL);
        sweep(spec.run, spec.node);
        answer(error_reply(started.error()));
        _exit(1);
    }
    rendezvous.listener.close(); // its port is closed when rank 0 ends
    const ProcessIdentity self = own_identity();
    answer({{"is", "started"}, {"pid", self.pid}, {"start_time", self.start_time}, {"boot_id", self.boot_id}});
    supervisor.run(signals.get());
    _exit(0);
}

// Nothing of the connection may stay open here, or the SSH channel would never end.
Expected<void> leave_the_session(const RunFolder& folder)
{
    setsid();
    umask(077);
    for (const int signal : {SIGHUP, SIGPIPE, SIGXFSZ})
        ::signal(signal, SIG_IGN);
    const auto null = open_file("/dev/null", O_RDWR);
    const auto own_log = open_file(folder.file("agent.log"), O_WRONLY | O_CREAT | O_APPEND);
    for (const auto* opened : {&null, &own_log})
        if (!*opened)
            return opened->error();
    if (chdir(folder.path().c_str()) != 0)
        return errno_problem("the run folder cannot be used", folder.path());
    dup2(null->get(), 0);
    dup2(own_log->get(), 1);
    dup2(own_log->get(), 2);
    return {};
}

// The supervisor's parent does nothing but wait for it. When the supervisor dies without a word, what it leaves behind
// becomes the guardian's: it kills that and ends the run as lost, at once and without any client.
void bury(int wait_status, const RunFolder& folder, const RunSpec& spec, FileDescriptor lock)
{
    if (WIFEXITED(wait_status))
        return;
    for (double until = monotonic_seconds() + 5; monotonic_seconds() < until;) {
        const auto left = descendants(getpid());
        if (left.empty())
            break;
        for (const pid_t pid : left)
            kill(pid, SIGKILL); // our children, not yet reaped: their numbers are still their own
        while (waitpid(-1, nullptr, WNOHANG) > 0) { }
        usleep(5000);
    }
    lock.close();
    (void)close_lost_run(folder, spec.run, spec.node);
}

// What the supervisor says when it has started its ranks, or could not.
Expected<ProcessIdentity> answer_of(const FileDescriptor& ready, const RunFolder& folder)
{
    std::string text;
    char block[4096];
    ssize_t got = 0;
    while ((got = read(ready.get(), block, sizeof block)) > 0 || (got < 0 && errno == EINTR)) {
        if (got > 0)
            text.append(block, static_cast<std::size_t>(got));
    }
    const auto answer = parse_json(text, "supervisor");
    if (!answer)
        return Problem{ProblemCode::failed, "the supervisor ended before the ranks were started",
            "see agent.log in the run folder", folder.path().string()};
    if (text_field(*answer, "is") != "started")
        return problem_from_reply(*answer, {});
    return ProcessIdentity{static_cast<pid_t>(integer_field(*answer, "pid")), integer_field(*answer, "start_time"),
        text_field(*answer, "boot_id")};
}

} // namespace

Expected<ProcessIdentity> start_supervisor(
    const RunFolder& folder, const RunSpec& spec, Rendezvous rendezvous, Environment environment, FileDescriptor lock)
{
    FOURFOLD_CHECK(make_reserve(folder.file("reserve"), kReserveBytes));
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) != 0)
        return errno_problem("no pipe for the supervisor", folder.path());
    FileDescriptor ready_in(ready[0]), ready_out(ready[1]);
    const pid_t middle = fork();
    if (middle < 0)
        return errno_problem("the supervisor cannot be started", folder.path());
    if (middle == 0) {
        // The copies of `lock` made by fork keep the lock when the session lets go of its own.
        if (const pid_t guardian = fork(); guardian != 0)
            _exit(guardian < 0 ? 1 : 0);
        ready_in.close();
        const auto left = leave_the_session(folder);
        if (!left) {
            (void)write_fully(ready_out.get(), to_wire(error_reply(left.error())));
            _exit(1);
        }
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        const pid_t supervisor = fork();
        if (supervisor < 0)
            _exit(1);
        if (supervisor == 0)
            supervise(folder, spec, std::move(rendezvous), std::move(environment), std::move(ready_out));
        ready_out.close();
        rendezvous.listener.close();
        int status = 0;
        while (waitpid(supervisor, &status, 0) < 0 && errno == EINTR) { }
        bury(status, folder, spec, std::move(lock));
        _exit(0);
    }
    ready_out.close();
    rendezvous.listener.close();
    lock.close();
    waitpid(middle, nullptr, 0);
    return answer_of(ready_in, folder);
}

Expected<void> supervise_as_child(const RunFolder& folder, const RunSpec& spec, Rendezvous rendezvous,
    Environment environment, FileDescriptor lock, const std::function<void()>& idle)
{
    FOURFOLD_CHECK(make_reserve(folder.file("reserve"), kReserveBytes));
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) != 0)
        return errno_problem("no pipe for the supervisor", folder.path());
    FileDescriptor ready_in(ready[0]), ready_out(ready[1]);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t parent = getpid();
    const pid_t supervisor = fork();
    if (supervisor < 0)
        return errno_problem("the supervisor cannot be started", folder.path());
    if (supervisor == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent)
            _exit(1);
        ready_in.close();
        supervise(folder, spec, std::move(rendezvous), std::move(environment), std::move(ready_out));
    }
    ready_out.close();
    rendezvous.listener.close();
    const auto started = answer_of(ready_in, folder);
    int status = 0;
    while (waitpid(supervisor, &status, WNOHANG) == 0) {
        idle();
        usleep(50000);
    }
    if (!started)
        return started.error();
    bury(status, folder, spec, std::move(lock));
    return {};
}

} // namespace fourfold
