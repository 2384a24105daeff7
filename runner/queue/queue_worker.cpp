// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/queue/queue_worker.h"

#include "core/base/input_file.h"
#include "core/base/paths.h"
#include "core/base/pause.h"
#include "core/history/store.h"
#include "core/plan/presets.h"
#include "runner/nodes/forwarding_observer.h"
#include "runner/runs/attempts.h"
#include "runner/runs/run_record.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <thread>

extern char** environ;

namespace fourfold {

namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenLooks = 300ms;
constexpr auto kBetweenLooksAtOthers = 2s;
constexpr int kMostBroken = 3; // processes of one run that ended without a word, one after the other
constexpr const char* kNotStarted = "not started";

// Whether the queue has to be read anew: where its file is another one, and to be sure now and then.
class Looks {
public:
    bool due(const RunQueue& queue)
    {
        constexpr int kAnyway = 100; // of so many looks
        std::string stamp = queue.stamp(); // before it is read: what changes meanwhile is read again
        const bool same = !stamp.empty() && stamp == seen_;
        seen_ = std::move(stamp);
        return !same || ++spared_ % kAnyway == 0;
    }

private:
    std::string seen_;
    int spared_ = 0;
};

Expected<void> write(const RunQueue& queue, std::int64_t number, const std::function<void(QueuedRun&)>& edit)
{
    return queue.change([&](QueueContents& contents) -> Expected<void> {
        if (QueuedRun* const run = contents.find(number))
            edit(*run);
        return {};
    });
}

Expected<void> write_end(
    const RunQueue& queue, std::int64_t number, const std::string& outcome, const std::string& problem)
{
    return write(queue, number, [&](QueuedRun& run) {
        run.state = TurnState::ended;
        run.outcome = outcome;
        run.problem = problem;
        run.waits_for.clear();
    });
}

// Runs of the history that go on on hosts of the target, as far as this computer knows them.
Expected<std::vector<std::string>> runs_in_the_way(const Target& target)
{
    std::vector<std::string> found;
    FOURFOLD_TRY(const auto store, HistoryStore::open_existing(HistoryStore::default_file()));
    if (!store)
        return found;
    FOURFOLD_TRY(const std::vector<RunSummary> runs, store->list());
    for (const RunSummary& run : runs) {
        if (is_terminal(run.state))
            continue;
        const auto where = recorded_target(run.id);
        if (where && share_a_host(*where, target))
            found.push_back(run.id);
    }
    return found;
}

// To its end, whoever follows it meanwhile.
Expected<RunResult> follow_on(const std::string& run, RunObserver& observer, const std::stop_token& stop)
{
    for (;;) {
        auto result = follow_to_end(run, observer, stop, {}, OnStop::detach);
        const bool elsewhere = !result && result.error().code == ProblemCode::refused;
        if (!elsewhere || pause_until_stopped(stop, kBetweenLooksAtOthers))
            return result;
    }
}

// The ends that a run can have are written in the queue; what keeps it from being written is returned.
class Turn {
public:
    Turn(const RunQueue& queue, std::int64_t number, RunObserver& observer, const std::stop_token& stop)
        : queue_(queue)
        , number_(number)
        , observer_(observer)
        , forward_(stop, [this] { any_.request_stop(); })
    {
    }

    Expected<void> see_to()
    {
        FOURFOLD_TRY(QueueContents contents, queue_.read());
        const QueuedRun* const found = contents.find(number_);
        if (found == nullptr || found->state == TurnState::ended)
            return {};
        const QueuedRun run = *found;
        FOURFOLD_CHECK(write(queue_, number_, [](QueuedRun& each) { each.state = TurnState::taken; }));
        const std::jthread listener([this](const std::stop_token& done) { listen(done); });
        // Its newest run is told to the queue.
        CreationObserver told(observer_, [this](const std::string& id) {
            (void)write(queue_, number_, [&](QueuedRun& each) {
                each.run = id;
                ++each.begun;
            });
        });
        const Expected<RunResult> result = run.run.empty() ? start(run, told) : go_on(run, told);
        if (!result)
            return write_end(queue_, number_, run.run.empty() ? kNotStarted : "lost", result.error().line());
        if (!is_terminal(result->state)) // somebody asked this program to end; the next one goes on
            return {};
        return write_end(
            queue_, number_, std::string(name(result->state)), result->problem ? result->problem->line() : "");
    }

private:
    Expected<RunResult> start(const QueuedRun& run, RunObserver& told)
    {
        FOURFOLD_CHECK(wait_for_hosts(run.target));
        FOURFOLD_TRY(const RunRequest request, request_of(run));
        return launch(request, told, any_.get_token());
    }

    // What another program began, with the restarts that it left.
    Expected<RunResult> go_on(const QueuedRun& run, RunObserver& told)
    {
        FOURFOLD_TRY(RunResult result, follow_on(run.run, observer_, any_.get_token()));
        FOURFOLD_TRY(RunRequest request, request_of(run));
        request.restarts = run.restarts - (run.begun - 1);
        return launch_after(std::move(result), request, told, any_.get_token());
    }

    static Expected<RunRequest> request_of(const QueuedRun& run)
    {
        RunRequest request;
        FOURFOLD_TRY(const Plan plan, plan_from_json(run.plan, run.where));
        FOURFOLD_TRY(request.plan, resolve(plan, Presets()));
        request.target = run.target;
        request.steps = run.steps;
        request.restarts = run.restarts;
        request.rehearse = run.rehearse;
        request.trainer = run.trainer;
        request.agent = run.agent;
        return request;
    }

    Expected<void> wait_for_hosts(const Target& target)
    {
        const std::stop_token stop = any_.get_token();
        for (;;) {
            FOURFOLD_TRY(const std::vector<std::string> runs, runs_in_the_way(target));
            if (stop.stop_requested())
                return Problem{ProblemCode::cancelled, "taken out of the queue before its turn", {}, {}};
            FOURFOLD_CHECK(
                write(queue_, number_, [&](QueuedRun& each) { each.waits_for = runs.empty() ? "" : runs.front(); }));
            if (runs.empty())
                return {};
            RunObserver nobody;
            if (!follow_on(runs.front(), nobody, stop)) // out of reach: its own state says more when it is known
                pause_until_stopped(stop, kBetweenLooksAtOthers);
        }
    }

    // Taken out of the queue by another program.
    void listen(const std::stop_token& done)
    {
        Looks looks;
        do {
            if (!looks.due(queue_))
                continue;
            auto contents = queue_.read();
            if (contents && contents->find(number_) == nullptr) {
                any_.request_stop();
                return;
            }
        } while (!pause_until_stopped(done, kBetweenLooks));
    }

    const RunQueue& queue_;
    std::int64_t number_;
    RunObserver& observer_;
    std::stop_source any_;
    std::stop_callback<std::function<void()>> forward_;
};

// Where a program behind everything writes what nobody sees. A run is worth more than its log: what cannot be one (a
// pipe, which would be waited for, a folder, a link) is left as it is.
FileDescriptor open_log(const std::filesystem::path& log)
{
    constexpr int kHow = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    FileDescriptor file(::open(log.c_str(), kHow, 0600));
    if (!file.valid() || !check_regular(file.get(), log))
        file = FileDescriptor(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    return file;
}

Expected<pid_t> spawn(
    const std::filesystem::path& program, const std::vector<std::string>& arguments, const std::filesystem::path& log)
{
    const FileDescriptor errors = open_log(log);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, errors.get(), 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    std::vector<std::string> words{program.string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t pid = 0;
    const int error = posix_spawn(&pid, program.c_str(), &actions, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return Problem{ProblemCode::io, std::string("the queue's program cannot be started: ") + std::strerror(error),
            "it belongs beside this one", program.string()};
    return pid;
}

// The processes that see to runs, by number.
class Helpers {
public:
    explicit Helpers(const RunQueue& queue, const std::function<Expected<int>(std::int64_t)>& begin)
        : queue_(queue)
        , begin_(begin)
    {
    }

    [[nodiscard]] bool has(std::int64_t number) const { return processes_.contains(number); }

    Expected<void> begin(std::int64_t number)
    {
        FOURFOLD_TRY(const int process, begin_(number));
        processes_[number] = process;
        return {};
    }

    // Those that have ended are let go; a run whose processes keep ending without a word is given up.
    Expected<void> reap()
    {
        for (auto at = processes_.begin(); at != processes_.end();) {
            int status = 0;
            if (::waitpid(at->second, &status, WNOHANG) == 0) {
                ++at;
                continue;
            }
            const std::int64_t number = at->first;
            at = processes_.erase(at);
            FOURFOLD_TRY(QueueContents contents, queue_.read());
            const QueuedRun* const run = contents.find(number);
            if (run == nullptr || run->state == TurnState::ended)
                continue;
            if (++broken_[number] < kMostBroken)
                continue;
            FOURFOLD_CHECK(write_end(queue_, number, run->run.empty() ? kNotStarted : "lost",
                "the program that saw to it ended " + std::to_string(kMostBroken) + " times without a word (see "
                    + (queue_.folder() / "log").string() + ")"));
        }
        return {};
    }

private:
    const RunQueue& queue_;
    const std::function<Expected<int>(std::int64_t)>& begin_;
    std::map<std::int64_t, pid_t> processes_;
    std::map<std::int64_t, int> broken_;
};

// Something is left to do for who gives turns.
bool has_work(const QueueContents& contents)
{
    return std::any_of(contents.runs.begin(), contents.runs.end(), [&](const QueuedRun& run) {
        return run.state == TurnState::taken || (run.state == TurnState::waiting && !contents.paused);
    });
}

// Nobody sees to a run any more that was taken. Whoever saw to it writes its end first and lets go of its lock then:
// what was read before the lock was looked at may be older than both.
Expected<bool> is_left(const RunQueue& queue, std::int64_t number)
{
    FOURFOLD_TRY(QueueContents now, queue.read());
    const QueuedRun* const run = now.find(number);
    return run != nullptr && run->state == TurnState::taken;
}

} // namespace

Expected<void> see_to_queued_run(
    const RunQueue& queue, std::int64_t number, RunObserver& observer, const std::stop_token& stop)
{
    FOURFOLD_TRY(const FileDescriptor lock, queue.take(std::to_string(number)));
    if (!lock.valid())
        return Problem{ProblemCode::refused, "another program sees to run " + std::to_string(number) + " of the queue",
            {}, queue.folder().string()};
    FOURFOLD_CHECK(Turn(queue, number, observer, stop).see_to());
    std::error_code ignored;
    std::filesystem::remove(queue.folder() / (std::to_string(number) + ".lock"), ignored);
    return {};
}

Expected<bool> give_turns(
    const RunQueue& queue, const std::function<Expected<int>(std::int64_t)>& begin, const std::stop_token& stop)
{
    FOURFOLD_CHECK(queue.change([](QueueContents&) -> Expected<void> { return {}; })); // its folder is there
    FOURFOLD_TRY(FileDescriptor turns, queue.take(RunQueue::kTurns));
    if (!turns.valid())
        return false;
    Helpers helpers(queue, begin);
    QueueContents contents;
    Looks looks;
    while (!stop.stop_requested()) {
        FOURFOLD_CHECK(helpers.reap());
        if (looks.due(queue)) {
            FOURFOLD_TRY(contents, queue.read());
        }
        for (const QueuedRun& run : contents.runs) {
            if (run.state != TurnState::taken || helpers.has(run.number) || queue.is_taken(std::to_string(run.number)))
                continue;
            FOURFOLD_TRY(const bool left, is_left(queue, run.number));
            if (left)
                FOURFOLD_CHECK(helpers.begin(run.number));
        }
        if (const QueuedRun* const next = next_turn(contents)) {
            const std::int64_t number = next->number;
            FOURFOLD_CHECK(write(queue, number, [](QueuedRun& run) {
                if (run.state == TurnState::waiting)
                    run.state = TurnState::taken;
            }));
            FOURFOLD_CHECK(helpers.begin(number));
            continue; // the next one may have other hosts
        }
        if (!has_work(contents)) {
            // Nobody adds between this look and the end.
            bool done = false;
            FOURFOLD_CHECK(queue.change([&](QueueContents& now) -> Expected<void> {
                done = !has_work(now);
                if (done)
                    turns.close();
                return {};
            }));
            if (done)
                return true;
        }
        pause_until_stopped(stop, kBetweenLooks);
    }
    return true;
}

Expected<int> begin_queued_run(const RunQueue& queue, std::int64_t number)
{
    return spawn(
        own_program("fourfold"), {"queue", "work", "--number", std::to_string(number)}, queue.folder() / "log");
}

Expected<void> ensure_turns(const RunQueue& queue, std::filesystem::path program)
{
    FOURFOLD_TRY(const QueueContents contents, queue.read());
    if (!has_work(contents) || queue.has_giver())
        return {};
    if (program.empty())
        program = own_program("fourfold");
    FOURFOLD_TRY(const pid_t process, spawn(program, {"queue", "work", "--behind"}, queue.folder() / "log"));
    // It goes behind by a process of its own and ends at once.
    int status = 0;
    ::waitpid(process, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return Problem{ProblemCode::failed, "the program that gives queued runs their turns did not start",
            "`fourfold queue work` says why", program.string()};
    return {};
}

} // namespace fourfold
