// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/supervisor.h"

#include "runner/agent/event_log.h"
#include "runner/agent/event_merge.h"
#include "runner/protocol/message.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <vector>

namespace fourfold {

namespace {

constexpr std::size_t kReserveBytes = 1u << 20;
constexpr uint64_t kNoRoom = 64u << 10; // bytes free that are as good as none
constexpr double kGatherSeconds = 0.05; // failures this close together are judged together
constexpr double kGangGraceSeconds = 0.2; // the other ranks wait in a collective: asking long is of no use
constexpr double kUnkillableSeconds = 5; // processes in an uninterruptible wait are reported, not waited for

// How often the kernel has killed for want of memory since it was started; -1 when it does not say.
long long kernel_oom_kills()
{
    const std::string text = slurp("/proc/vmstat");
    const std::size_t at = text.find("\noom_kill ");
    return at == std::string::npos ? -1 : atoll(text.c_str() + at + 10);
}

class Supervisor {
public:
    Supervisor(const RunFolder& folder, const RunSpec& spec, EventLog log)
        : folder_(folder)
        , spec_(spec)
        , log_(std::move(log))
        , merge_(spec_, folder.path(), log_)
        , oom_kills_before_(kernel_oom_kills())
    {
    }

    Expected<void> start_ranks(const Rendezvous& rendezvous)
    {
        for (const RankPlace& place : spec_.ranks) {
            auto pid = start_rank(spec_, place, folder_.path(), rendezvous);
            if (!pid) {
                end(spec_.ranks.front().rank, "fail", pid.error().line());
                return std::move(pid).error();
            }
            running_[*pid] = place;
        }
        report("running");
        return {};
    }

    void run(int signal_fd)
    {
        while (!finished()) {
            pollfd waiting{signal_fd, POLLIN, 0};
            poll(&waiting, 1, stopping_ ? 5 : 50);
            signalfd_siginfo info{};
            while (read(signal_fd, &info, sizeof info) == sizeof info) {
                if (info.ssi_signo != SIGCHLD)
                    look_for_stop(true);
            }
            reap();
            if (!log_.failed())
                merge_.poll();
            look_for_stop(false);
            if (log_.failed() && !stopping_)
                stop_for_full_disk();
            judge_failures();
            press_on();
            const double now = monotonic_seconds();
            if (now - reported_ > 1)
                report(stopping_ ? "stopping" : "running");
        }
        finish();
    }

private:
    struct Failure {
        RankPlace place;
        int wait_status = 0;
        int order = 0;
    };

    [[nodiscard]] bool finished() const
    {
        if (!running_.empty() && !gave_up_)
            return false;
        return gave_up_ || (stopping_ ? tree_empty_ : failures_.empty());
    }

    void report(const std::string& state)
    {
        reported_ = monotonic_seconds();
        (void)folder_.write_status({state, state == "ended" ? status_ : std::string(), why_, own_identity()});
    }

    void reap()
    {
        int wait_status = 0;
        pid_t pid = 0;
        while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0) {
            const auto rank = running_.find(pid);
            if (rank == running_.end())
                continue; // an orphan of a rank, adopted as sub-reaper
            const bool good = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
            if (!good && !stopping_) {
                if (failures_.empty())
                    first_failure_ = monotonic_seconds();
                failures_.push_back({rank->second, wait_status, static_cast<int>(failures_.size())});
            }
            running_.erase(rank);
        }
    }

    // A stop request is a file; the signal only makes it be seen at once.
    void look_for_stop(bool signalled)
    {
        const double now = monotonic_seconds();
        if (stopping_ || (!signalled && now - looked_ < 0.25))
            return;
        looked_ = now;
        auto request = folder_.read_stop();
        if (!request && signalled)
            request = StopRequest{"cancelled", "the agent was asked to end by a signal", nullptr, spec_.grace_s};
        if (!request)
            return;
        status_ = request->status;
        why_ = request->why;
        foreign_error_ = request->error;
        begin_stop(request->grace_s);
    }

    void stop_for_full_disk()
    {
        status_ = "fail";
        why_ = "the events cannot be written on " + spec_.host + ": " + log_.failure() + "; make room in "
            + folder_.path().string();
        disk_failed_ = true;
        begin_stop(0);
    }

    // The culprit is a rank that a signal ended before one that reported an error before one that only exited: when a
    // rank dies, its peers fail in their collectives a moment later.
    void judge_failures()
    {
        if (stopping_ || failures_.empty())
            return;
        if (!running_.empty() && monotonic_seconds() - first_failure_ < kGatherSeconds)
            return;
        while (!log_.failed() && merge_.poll()) { }
        const auto weight = [this](const Failure& failure) {
            const auto error = merge_.error_of(failure.place.rank);
            const int group = WIFSIGNALED(failure.wait_status) && !error ? 0 : error ? 1 : 2;
            return std::pair<int, int64_t>(group, error ? error->order : failure.order);
        };
        const Failure culprit = *std::min_element(failures_.begin(), failures_.end(),
            [&](const Failure& a, const Failure& b) { return weight(a) < weight(b); });
        const auto error = merge_.error_of(culprit.place.rank);
        const std::string who = "rank " + std::to_string(culprit.place.rank) + " ("
            + describe(culprit.place.coordinates) + ") on " + spec_.host;
        std::string kind = error ? error->kind : "fail";
        std::string what = error && !error->message.empty() ? error->message : describe_exit(culprit.wait_status);
        if (!error && WIFSIGNALED(culprit.wait_status) && WTERMSIG(culprit.wait_status) == SIGKILL
            && oom_kills_before_ >= 0 && kernel_oom_kills() > oom_kills_before_) {
            kind = "oom";
            what += ": the node ran out of memory";
        }
        if (struct statvfs disk{};
            statvfs(folder_.path().c_str(), &disk) == 0 && disk.f_bavail * disk.f_frsize < kNoRoom)
            what += ": the node's disk is full";
        why_ = who + ": " + what;
        culprit_ = culprit.place.rank;
        status_ = kind == "oom" || kind == "hang" ? kind : "fail";
        if (!error) {
            const auto log = folder_.file("rank" + std::to_string(culprit.place.rank) + ".log");
            log_.append("error", culprit.place.rank,
                {{"kind", kind}, {"host", spec_.host}, {"coordinates", culprit.place.coordinates}, {"message", what},
                    {"log", last_log_lines(log)}});
        }
        begin_stop(kGangGraceSeconds);
    }

    void begin_stop(double grace_s)
    {
        stopping_ = true;
        tree_empty_ = false;
        kill_at_ = monotonic_seconds() + grace_s;
        for (const auto& [pid, place] : running_)
            kill(-pid, SIGTERM);
        report("stopping");
    }

    // Everything below this process is of the run: ranks, their helpers, and whatever they left behind as daemons.
    void press_on()
    {
        if (!stopping_ && running_.empty() && failures_.empty() && !descendants(getpid()).empty()) {
            status_ = "ok";
            stopping_ = true; // every rank is done; what remains are leftovers
            tree_empty_ = false;
            kill_at_ = monotonic_seconds();
        }
        if (!stopping_)
            return;
        const auto left = descendants(getpid());
        tree_empty_ = left.empty();
        const double now = monotonic_seconds();
        if (now < kill_at_ && !running_.empty())
            return;
        for (const pid_t pid : left)
            kill(pid, SIGKILL); // children of this process: their numbers cannot be reused before we reap them
        if (!left.empty() && now > std::max(kill_at_, first_failure_) + kUnkillableSeconds) {
            gave_up_ = true;
            why_ += (why_.empty() ? "" : "; ") + std::to_string(left.size())
                + " processes cannot be killed (they wait in the kernel), first pid " + std::to_string(left.front());
        }
    }

    void finish()
    {
        sweep(spec_.run, spec_.node);
        if (log_.failed()) {
            // The ranks are gone: what the reserve gives back is ours.
            std::error_code ignored;
            std::filesystem::remove(folder_.file("reserve"), ignored);
            for (int attempt = 0; attempt < 20 && !log_.flush(); ++attempt)
                usleep(100000);
            merge_.poll(kReserveBytes / 4);
        } else {
            while (merge_.poll()) { }
        }
        const int rank = culprit_ >= 0 ? culprit_ : spec_.ranks.front().rank;
        if (disk_failed_) {
            log_.append("error", spec_.ranks.front().rank,
                {{"kind", "fail"}, {"host", spec_.host}, {"coordinates", spec_.ranks.front().coordinates},
                    {"message", why_}, {"log", Json::array()}});
        } else if (foreign_error_.is_object()) {
            log_.append("error", static_cast<int>(integer_field(foreign_error_, "rank", -1)), foreign_error_keys());
        }
        end(rank, status_.empty() ? "ok" : status_, why_);
        std::error_code ignored;
        std::filesystem::remove(folder_.file("reserve"), ignored);
    }

    [[nodiscard]] Json foreign_error_keys() const
    {
        Json keys = Json::object();
        for (const char* key : {"kind", "host", "coordinates", "message", "log"}) {
            if (foreign_error_.contains(key))
                keys[key] = foreign_error_[key];
        }
        return keys;
    }

    void end(int rank, const std::string& status, const std::string& why)
    {
        status_ = status;
        Json keys = {{"status", status}};
        if (!why.empty())
            keys["message"] = why;
        log_.append("end", rank, keys);
        log_.sync();
        report("ended");
    }

    const RunFolder& folder_;
    const RunSpec& spec_;
    EventLog log_;
    EventMerge merge_;
    std::map<pid_t, RankPlace> running_;
    std::vector<Failure> failures_;
    double first_failure_ = 0, kill_at_ = 0, reported_ = 0, looked_ = 0;
    bool stopping_ = false, tree_empty_ = true, gave_up_ = false, disk_failed_ = false;
    int culprit_ = -1;
    std::string status_, why_;
    Json foreign_error_;
    long long oom_kills_before_ = -1;
};

// The supervisor's process; never returns. `ready` gets one JSON line: started or error.
[[noreturn]] void supervise(
    const RunFolder& folder, const RunSpec& spec, const Rendezvous& rendezvous, FileDescriptor ready)
{
    setsid();
    umask(077);
    for (const int signal : {SIGHUP, SIGPIPE, SIGXFSZ})
        ::signal(signal, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigset_t mask;
    sigemptyset(&mask);
    for (const int signal : {SIGTERM, SIGINT, SIGCHLD})
        sigaddset(&mask, signal);
    sigprocmask(SIG_BLOCK, &mask, nullptr);
    const FileDescriptor signals(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));

    const auto answer = [&](const Json& json) {
        (void)write_fully(ready.get(), to_wire(json));
        ready.close();
    };
    // Nothing of the connection may stay open here, or the SSH channel would never end.
    const auto null = open_file("/dev/null", O_RDWR);
    const auto own_log = open_file(folder.file("agent.log"), O_WRONLY | O_CREAT | O_APPEND);
    if (!null || !own_log || chdir(folder.path().c_str()) != 0) {
        answer(error_reply(errno_problem("the run folder cannot be used", folder.path())));
        _exit(1);
    }
    dup2(null->get(), 0);
    dup2(own_log->get(), 1);
    dup2(own_log->get(), 2);

    auto log = EventLog::open(folder.file("events.jsonl"));
    if (!log) {
        answer(error_reply(log.error()));
        _exit(1);
    }
    Supervisor supervisor(folder, spec, std::move(*log));
    if (const auto started = supervisor.start_ranks(rendezvous); !started) {
        for (const pid_t pid : descendants(getpid()))
            kill(pid, SIGKILL);
        sweep(spec.run, spec.node);
        answer(error_reply(started.error()));
        _exit(1);
    }
    const ProcessIdentity self = own_identity();
    answer({{"is", "started"}, {"pid", self.pid}, {"start_time", self.start_time}, {"boot_id", self.boot_id}});
    supervisor.run(signals.get());
    _exit(0);
}

} // namespace

Expected<ProcessIdentity> start_supervisor(
    const RunFolder& folder, const RunSpec& spec, const Rendezvous& rendezvous, FileDescriptor lock)
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
        // The copy of `lock` made by fork keeps the lock when the session lets go of its own.
        const pid_t supervisor = fork();
        if (supervisor != 0)
            _exit(supervisor < 0 ? 1 : 0);
        ready_in.close();
        supervise(folder, spec, rendezvous, std::move(ready_out));
    }
    ready_out.close();
    lock.close();
    waitpid(middle, nullptr, 0);
    std::string text;
    char block[4096];
    ssize_t got = 0;
    while ((got = read(ready_in.get(), block, sizeof block)) > 0 || (got < 0 && errno == EINTR)) {
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

Expected<void> close_lost_run(const RunFolder& folder, const std::string& run, int node)
{
    FOURFOLD_TRY(const FileDescriptor lock, folder.lock());
    const std::string verdict = folder.verdict();
    if (verdict == "ended" || verdict == "absent")
        return {};
    const int killed = sweep(run, node);
    FOURFOLD_TRY(const RunSpec spec, folder.read_spec());
    std::error_code ignored;
    std::filesystem::remove(folder.file("reserve"), ignored);
    FOURFOLD_TRY(EventLog log, EventLog::open(folder.file("events.jsonl")));
    std::string why;
    if (verdict == "lost-reboot")
        why = "the node " + spec.host + " was restarted while the run was going";
    else if (verdict == "prepared")
        why = "the run was prepared on " + spec.host + " but never started";
    else
        why = "the agent on " + spec.host + " ended without a word; " + std::to_string(killed)
            + " processes that it left were killed";
    if (!log.ended()) {
        EventMerge merge(spec, folder.path(), log);
        while (merge.poll()) { }
        const RankPlace& first = spec.ranks.front();
        log.append("error", first.rank,
            {{"kind", "lost"}, {"host", spec.host}, {"coordinates", first.coordinates}, {"message", why},
                {"log", last_log_lines(folder.file("agent.log"))}});
        log.append("end", first.rank, {{"status", "lost"}, {"message", why}});
        log.sync();
        if (log.failed())
            return Problem{ProblemCode::io, "the end of a lost run cannot be written: " + log.failure(),
                "make room on that disk", folder.path().string()};
    }
    (void)folder.write_status({"ended", "lost", why, own_identity()});
    return {};
}

} // namespace fourfold
