// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/failure.h"

#include "runner/trainer/metrics/host_facts.h"
#include "runner/trainer/train.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace fourfold::trainer {

namespace {
constexpr double kTellingSeconds = 10; // the first rank looks for who is gone, then tells

std::atomic<bool> busy{false};

// What telling takes, kept for when there is no memory left: address space alone, it is never touched.
constexpr std::size_t kReserveBytes = 8u << 20;
std::atomic<char*> reserve{nullptr};
thread_local bool telling = false; // whatever fails while this thread tells must not wait for itself

// The limit that a session or a prelude sets (`ulimit -v`), in words; empty where there is none.
std::string limit_text()
{
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return {};
    return "; this process may have " + std::to_string(limit.rlim_cur >> 20) + " MiB (ulimit -v)";
}

std::string own_name()
{
    return "rank " + std::to_string(identity().job.rank);
}

// The ranks of a node share the run's folder; its parent and port tell a job apart from an earlier one there.
bool first_of_node()
{
    const Job& job = identity().job;
    const auto file
        = job.run_folder / (".failure-" + std::to_string(::getppid()) + "-" + std::to_string(job.master_port));
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0)
        return errno != EEXIST; // where it cannot be made: rather twice than never
    ::close(descriptor);
    return true;
}

void say_stopped(const std::string& told)
{
    if (identity().page)
        identity().page->fail({FailureOrigin::told, "fail", told.empty() ? "another rank of its node says why" : told});
    std::fprintf(stderr, "%s: stopped, as another rank failed%s%s\n", own_name().c_str(), told.empty() ? "" : ": ",
        told.c_str());
    if (identity().watch)
        identity().watch->outlast_the_others();
}

enum class Part { tell, tell_of_rank_0, leave };

// One rank of the job tells; where the meeting point is gone, one of each node. The others leave with a line.
Part choose_part(bool knows)
{
    if (identity().job.world_size == 1)
        return Part::tell;
    const bool of_node = knows && first_of_node();
    const auto& watch = identity().watch;
    if (knows) {
        const auto of_job = watch ? watch->claim() : std::nullopt;
        if (of_job.value_or(false))
            return Part::tell;
    }
    const auto told = watch ? watch->told(kTellingSeconds) : std::nullopt;
    if (told && !told->empty()) {
        say_stopped(*told);
        return Part::leave;
    }
    if (told || of_node || (!knows && first_of_node())) // who should have told cannot any more
        return !told && watch ? Part::tell_of_rank_0 : Part::tell;
    say_stopped("");
    return Part::leave;
}

// The cause first, where the agent reads it; then the others may hear and leave.
void tell(const Problem& problem, const std::string& kind, FailureOrigin origin)
{
    if (identity().page)
        identity().page->fail({origin, kind, problem.line()});
    const auto recorder = identity().recorder.load();
    const std::string last = recorder ? recorder->last() : "";
    std::fprintf(stderr, "%s%s%s\n", problem.line().c_str(), last.empty() ? "" : "; last collective: ", last.c_str());
    ErrorEvent error{.kind = kind,
        .host = host_name(),
        .message = problem.line(),
        .last_collective = last,
        .mesh = identity().coordinates};
    if (origin != FailureOrigin::own)
        error.origin = kFailureOrigins[int(origin)];
    if (identity().events)
        (void)identity().events->write(error);
    const std::string line = problem.line();
    if (identity().watch)
        identity().watch->tell(line.starts_with(own_name()) ? line : own_name() + ": " + line);
}

// Each rank's last collectives: one that only stopped may have been where the trouble was.
void write_flight(const std::string& message)
{
    const auto recorder = identity().recorder.load();
    if (!recorder || recorder->last().empty())
        return;
    (void)write_file_atomically(
        identity().job.run_folder / ("rank" + std::to_string(identity().job.rank) + ".flight.json"),
        Json{{"message", message}, {"mesh", identity().coordinates}, {"collectives", recorder->recent()}}.dump(1));
}

// The watch's thread and the training may fail at once: the one that comes second leaves the rest to the other.
bool begin()
{
    return !busy.exchange(true);
}

std::string list_of(const std::vector<int>& ranks)
{
    std::string text;
    for (const int rank : ranks)
        text += (text.empty() ? "" : ", ") + std::string("rank ") + std::to_string(rank);
    return text;
}
} // namespace

Identity& identity()
{
    static Identity own;
    return own;
}

Json to_json(const Coordinates& at)
{
    return {{"tp", at.tp}, {"cp", at.cp}, {"pp", at.pp}, {"dp", at.dp}};
}

std::string first_line(const std::string& text)
{
    return text.substr(0, text.find('\n'));
}

std::string kind_of(const std::string& what)
{
    const auto says = [&](const char* words) { return what.find(words) != std::string::npos; };
    if (says("out of memory") || says("bad_alloc") || says("can't allocate memory"))
        return "oom";
    const auto recorder = identity().recorder.load();
    if (says("imed out") || says("imeout") || (recorder && recorder->stuck_for(0.9 * identity().job.timeout_s)))
        return "hang";
    return "fail";
}

int report(const Problem& problem, const std::string& kind)
{
    while (!begin())
        ::pause(); // the watch's thread ends the process
    write_flight(problem.line());
    const bool knows = problem.code != ProblemCode::cancelled;
    const Part part = choose_part(knows);
    if (part != Part::leave)
        tell(problem, kind, part == Part::tell && knows ? FailureOrigin::own : FailureOrigin::lost_rank);
    return problem.exit_status();
}

void prepare_to_report()
{
    reserve = static_cast<char*>(std::malloc(kReserveBytes));
}

int report_exception(const std::string& what)
{
    if (telling) { // its agent reads the log
        std::fprintf(stderr, "%s\n", what.c_str());
        return 1;
    }
    while (!begin())
        ::pause();
    telling = true;
    std::free(reserve.exchange(nullptr));
    const std::string kind = kind_of(what);
    Problem problem{ProblemCode::failed, first_line(what) + (kind == "oom" ? limit_text() : ""), "", own_name()};
    write_flight(problem.line());
    const Part part = choose_part(true);
    if (part == Part::leave)
        return problem.exit_status();
    FailureOrigin origin = part == Part::tell ? FailureOrigin::own : FailureOrigin::lost_rank;
    const auto recorder = identity().recorder.load();
    if (identity().watch && kind != "oom" && recorder && recorder->stuck_for(0)) {
        if (const auto gone = identity().watch->silent(); !gone.empty()) {
            origin = FailureOrigin::lost_rank;
            problem.message = "lost " + list_of(gone) + ", without a sign of life for "
                + std::to_string(int(Watch::kSilenceSeconds)) + " s: " + problem.message;
        }
    }
    tell(problem, kind, origin);
    return problem.exit_status();
}

void leave_after(const std::string& told)
{
    if (!begin())
        return;
    write_flight(told);
    if (!told.empty()) {
        say_stopped(told);
    } else {
        // Its agent, which saw how rank 0 ended, comes first.
        std::this_thread::sleep_for(std::chrono::duration<double>(Watch::kSilenceSeconds));
        const Job& job = identity().job;
        if (first_of_node())
            tell(Problem{ProblemCode::failed,
                     "lost rank 0: its meeting point " + job.master_address + ":" + std::to_string(job.master_port)
                         + " does not answer any more",
                     "", own_name()},
                "fail", FailureOrigin::lost_rank);
        else
            say_stopped("");
    }
    std::fflush(nullptr);
    ::_exit(1);
}

void report_fatal(const std::string& what)
{
    report_exception(what);
}

} // namespace fourfold::trainer
