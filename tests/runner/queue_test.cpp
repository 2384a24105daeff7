// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that wait for their turn: the list, the turns, and the programs that see to them, with real agents and processes
// on this computer and the fake trainer.
#include "core/base/json.h"
#include "core/base/paths.h"
#include "core/history/store.h"
#include "runner/queue/queue_table.h"
#include "runner/queue/queue_worker.h"
#include "runner/runs/watch.h"
#include "tests/runner/support.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace fourfold::test {
namespace {

Target on_hosts(const std::vector<std::string>& addresses)
{
    Target target;
    target.id = "ours";
    target.kind = TargetKind::ssh;
    for (const std::string& address : addresses) {
        target.hosts.emplace_back();
        target.hosts.back().address = address;
    }
    return target;
}

QueuedRun entry(std::int64_t number, const Target& target, TurnState state = TurnState::waiting)
{
    QueuedRun run;
    run.number = number;
    run.target = target;
    run.state = state;
    return run;
}

std::int64_t number_of(const QueuedRun* run)
{
    return run ? run->number : 0;
}

TEST(Turns, HostsAreTakenInOrderAndOneAfterAnother)
{
    QueueContents contents;
    EXPECT_EQ(next_turn(contents), nullptr);
    contents.runs = {entry(1, on_hosts({"a", "b"}), TurnState::taken), entry(2, on_hosts({"b", "c"})),
        entry(3, on_hosts({"c"})), entry(4, on_hosts({"d"})), entry(5, on_hosts({"d"}))};
    EXPECT_EQ(number_of(next_turn(contents)), 4) << "2 waits for b; 3 must not overtake 2 on c";
    contents.runs[3].state = TurnState::taken;
    EXPECT_EQ(next_turn(contents), nullptr);
    contents.runs[0].state = TurnState::ended;
    EXPECT_EQ(number_of(next_turn(contents)), 2);
    contents.paused = true;
    EXPECT_EQ(next_turn(contents), nullptr);
}

TEST(Turns, TheSameHostByPortAndUserAndSlurmDecidesItself)
{
    Target one = on_hosts({"a"}), other = on_hosts({"a"});
    other.hosts.front().user = "somebody";
    other.hosts.front().port = 22;
    EXPECT_TRUE(share_a_host(one, other));
    other.hosts.front().port = 2222; // another machine behind the same name
    EXPECT_FALSE(share_a_host(one, other));
    Target slurm;
    slurm.kind = TargetKind::slurm;
    EXPECT_FALSE(share_a_host(slurm, slurm));
    EXPECT_TRUE(share_a_host(Target(), Target())) << "this computer";
}

class Queue : public testing::Test {
protected:
    Home home;
    RunQueue queue;

    std::int64_t add(const std::map<std::string, std::string>& environment, int gpus = 1, int restarts = 0)
    {
        RunRequest asked = request(home, gpus, environment);
        asked.restarts = restarts;
        const auto number = queue.add(asked);
        EXPECT_TRUE(number) << (number ? "" : number.error().line());
        return number ? *number : 0;
    }
    QueueContents contents()
    {
        const auto all = queue.read();
        EXPECT_TRUE(all) << (all ? "" : all.error().line());
        return all ? *all : QueueContents();
    }
    QueuedRun at(std::int64_t number)
    {
        QueueContents all = contents();
        const QueuedRun* const run = all.find(number);
        return run ? *run : QueuedRun();
    }
    // As `fourfold queue work`; each process that sees to a run is a line of a file.
    [[nodiscard]] Expected<bool> work() const
    {
        return give_turns(queue,
            [this](std::int64_t number) -> Expected<int> {
                const pid_t process = fork();
                if (process == 0) {
                    close_range(3, ~0U, 0); // as a new program has it: the lock of who gives turns stays with that one
                    RunObserver observer;
                    _exit(see_to_queued_run(queue, number, observer, {}) ? 0 : 1);
                }
                std::ofstream(home.path() / "begun", std::ios::app) << process << '\n';
                return process;
            },
            {});
    }
    // The same in a process of its own. 0: it gave turns until nothing was left to do.
    pid_t start_turns()
    {
        const pid_t process = fork();
        if (process == 0) {
            const auto done = work();
            _exit(done && *done ? 0 : 1);
        }
        return process;
    }
    static int end_of(pid_t process)
    {
        int status = 0;
        EXPECT_EQ(waitpid(process, &status, 0), process);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    [[nodiscard]] std::vector<pid_t> begun() const
    {
        std::vector<pid_t> processes;
        std::ifstream in(home.path() / "begun");
        for (pid_t process = 0; in >> process;)
            processes.push_back(process);
        return processes;
    }
};

TEST_F(Queue, KeepsItsOrderAndItsNumbers)
{
    EXPECT_TRUE(contents().runs.empty()) << "nothing was ever queued";
    const auto first = add({}), second = add({}), third = add({});
    EXPECT_EQ(second, first + 1);
    ASSERT_TRUE(queue.move(third, 1));
    std::vector<std::int64_t> order;
    for (const QueuedRun& run : contents().runs)
        order.push_back(run.number);
    EXPECT_EQ(order, (std::vector{third, first, second}));
    ASSERT_TRUE(queue.move(third, 99));
    EXPECT_EQ(contents().runs.back().number, third);
    ASSERT_TRUE(queue.remove(third));
    EXPECT_EQ(add({}), third + 1) << "a number is given once";
    const auto gone = queue.remove(third);
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().message, "the queue has no run 3");
    // What was read back is what was written.
    const QueuedRun run = at(first);
    EXPECT_EQ(run.name(), "Tiny");
    EXPECT_EQ(run.target.id, "local");
    EXPECT_EQ(queue_summary(contents()), "3 runs wait");
    ASSERT_TRUE(queue.set_paused(true));
    EXPECT_EQ(queue_summary(contents()), "paused: 3 runs wait");
}

// The program that starts a queued run has another environment than who added it.
TEST_F(Queue, ASecretHasNobodyWhoGivesIt)
{
    RunRequest asked = request(home, 1, {});
    asked.target.secrets = {"FF_TEST_TOKEN"};
    const auto refused = queue.add(asked);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().exit_status(), 2);
    EXPECT_NE(refused.error().line().find("\"FF_TEST_TOKEN\""), std::string::npos) << refused.error().line();
    EXPECT_TRUE(contents().runs.empty());
}

TEST_F(Queue, ADamagedOrNewerFileIsNamedAndKept)
{
    add({});
    const auto file = queue.folder() / "queue.json";
    const auto text = read_text_file(file);
    auto twice = read_json_file(file);
    ASSERT_TRUE(text && twice);
    (*twice)["runs"].push_back((*twice)["runs"][0]);
    for (const auto& [damaged, said] : {std::pair{text->substr(0, text->size() / 2), "queue.json"},
             std::pair{std::string(R"({"format": 2, "runs": []})"), "newer Fourfold"},
             std::pair{std::string(R"({"format": 1})"), "runs"},
             std::pair{std::string(R"({"format": 1, "runs": {}})"), "expected a list"},
             std::pair{twice->dump(), "is another run's, too"},
             std::pair{std::string(R"({"format": 1, "runs": [{"number": 1, "plan": 3, "target": {}}]})"), "plan"}}) {
        ASSERT_TRUE(write_file_atomically(file, damaged));
        const auto read = queue.read();
        ASSERT_FALSE(read) << said;
        EXPECT_NE(read.error().line().find(said), std::string::npos) << read.error().line();
        EXPECT_FALSE(queue.add(request(home, 1, {}))) << "it would overwrite what it cannot read";
        EXPECT_EQ(*read_text_file(file), damaged);
    }
}

// Nobody opens the log of what runs behind everything, so that a pipe in its place is waited for by everybody.
TEST_F(Queue, WhatIsNoLogKeepsNoRunFromStarting)
{
    const auto program = home.path() / "program";
    std::ofstream(program) << "#!/bin/sh\necho said >&2\n";
    ASSERT_EQ(chmod(program.c_str(), 0700), 0);
    add({});
    const auto log = queue.folder() / "log";
    ASSERT_EQ(mkfifo(log.c_str(), 0600), 0);
    EXPECT_TRUE(ensure_turns(queue, program));
    std::filesystem::remove(log);
    std::filesystem::create_directory(log);
    EXPECT_TRUE(ensure_turns(queue, program));
    std::filesystem::remove(log);
    EXPECT_TRUE(ensure_turns(queue, program));
    EXPECT_EQ(*read_text_file(log), "said\n");
}

TEST_F(Queue, ALockThatIsKeptIsNotWaitedForWithoutEnd)
{
    add({});
    const FileDescriptor kept(open((queue.folder() / "lock").c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(flock(kept.get(), LOCK_EX), 0);
    const auto refused = queue.add(request(home, 1, {}));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().line().find("kept the queue locked"), std::string::npos) << refused.error().line();
    EXPECT_EQ(contents().runs.size(), 1u) << "looking needs no lock";
}

TEST_F(Queue, ItsStampIsAnotherOneAfterEachChange)
{
    std::string before = queue.stamp();
    EXPECT_EQ(before, "");
    for (int i = 0; i < 5; ++i) {
        add({});
        const std::string now = queue.stamp();
        EXPECT_NE(now, before);
        EXPECT_EQ(queue.stamp(), now);
        before = now;
    }
}

TEST_F(Queue, RunsGoOneAfterAnotherToTheirEnds)
{
    const auto first = add({{"FAKE_STEPS", "5"}}), failing = add({{"FAKE_FAIL_RANK", "0"}, {"FAKE_HOW", "exit37"}}),
               third = add({{"FAKE_STEPS", "4"}});
    const auto done = work();
    ASSERT_TRUE(done) << done.error().line();
    EXPECT_TRUE(*done);
    EXPECT_EQ(at(first).outcome, "ok");
    EXPECT_EQ(at(failing).outcome, "fail");
    EXPECT_NE(at(failing).problem.find("exit status 37"), std::string::npos) << at(failing).problem;
    EXPECT_EQ(at(third).outcome, "ok") << "the failure of one is no reason for the next to stay";
    const auto store = HistoryStore::open(HistoryStore::default_file());
    ASSERT_TRUE(store);
    std::string end;
    for (const auto number : {first, failing, third}) {
        const auto detail = store->show(at(number).run);
        ASSERT_TRUE(detail) << detail.error().line();
        EXPECT_GE(detail->summary.created, end) << "begins after the one before has ended";
        const auto lines = store->events(detail->summary.id);
        ASSERT_TRUE(lines && !lines->empty());
        end = Json::parse(lines->back()).at("time");
        EXPECT_EQ(processes_of(detail->summary.id), 0);
    }
    EXPECT_EQ(*queue.clear(), 3);
    EXPECT_TRUE(contents().runs.empty());
}

TEST_F(Queue, APlanThatCannotStartSaysWhyAndTheNextOneGoesOn)
{
    RunRequest broken = request(home, 1, {});
    broken.trainer = home.path() / "no-such-trainer";
    const auto number = queue.add(broken);
    ASSERT_TRUE(number);
    const auto next = add({{"FAKE_STEPS", "3"}});
    ASSERT_TRUE(work());
    EXPECT_EQ(at(*number).outcome, "not started");
    EXPECT_NE(at(*number).problem.find("no-such-trainer"), std::string::npos) << at(*number).problem;
    EXPECT_TRUE(at(*number).run.empty());
    EXPECT_EQ(at(next).outcome, "ok");
}

TEST_F(Queue, OneProgramGivesTurns)
{
    add({{"FAKE_STEPS", "20"}, {"FAKE_STEP_MS", "50"}});
    const pid_t first = start_turns();
    ASSERT_TRUE(wait_until([&] { return begun().size() == 1; }));
    EXPECT_TRUE(queue.has_giver());
    const auto second = work();
    ASSERT_TRUE(second);
    EXPECT_FALSE(*second) << "another one does";
    EXPECT_EQ(end_of(first), 0);
    EXPECT_FALSE(queue.has_giver());
    EXPECT_EQ(begun().size(), 1u);
}

// Whoever sees to a run may go away at any time.
TEST_F(Queue, ARunOutlivesWhoSeesToIt)
{
    const auto number = add({{"FAKE_STEPS", "40"}, {"FAKE_STEP_MS", "50"}});
    const pid_t turns = start_turns();
    const auto store_has_steps = [&] {
        const std::string run = at(number).run;
        return !run.empty() && !read_events(data_folder() / "runs" / run / "events.jsonl").empty();
    };
    ASSERT_TRUE(wait_until(store_has_steps));
    const std::string run = at(number).run;
    ASSERT_EQ(kill(begun().back(), SIGKILL), 0);
    EXPECT_EQ(end_of(turns), 0);
    EXPECT_EQ(at(number).outcome, "ok") << at(number).problem;
    EXPECT_EQ(at(number).run, run) << "it was followed, not started again";
    EXPECT_EQ(begun().size(), 2u);
    const auto store = HistoryStore::open(HistoryStore::default_file());
    ASSERT_TRUE(store);
    EXPECT_EQ(store->list()->size(), 1u);
    EXPECT_EQ(store->show(run)->steps.size(), 40u);
}

// Also the restarts that it had left.
TEST_F(Queue, RestartsOutliveWhoSeesToARun)
{
    const auto number = add({{"FAKE_STEPS", "40"}, {"FAKE_STEP_MS", "50"}, {"FAKE_FAIL_RANK", "0"},
                                {"FAKE_FAIL_STEP", "30"}, {"FAKE_HOW", "exit37"}},
        1, 2);
    const pid_t turns = start_turns();
    ASSERT_TRUE(wait_until([&] { return !at(number).run.empty(); }));
    const std::string first = at(number).run;
    ASSERT_EQ(kill(begun().back(), SIGKILL), 0);
    EXPECT_EQ(end_of(turns), 0);
    EXPECT_EQ(at(number).outcome, "fail");
    EXPECT_EQ(at(number).begun, 3) << "one run and two restarts";
    const auto store = HistoryStore::open(HistoryStore::default_file());
    ASSERT_TRUE(store);
    const auto runs = store->list();
    ASSERT_TRUE(runs);
    EXPECT_EQ(runs->size(), 3u);
    const auto last = store->show(at(number).run);
    ASSERT_TRUE(last);
    EXPECT_NE(last->summary.note.find("restart 2 of run "), std::string::npos) << last->summary.note;
    EXPECT_NE(at(number).run, first);
}

// The program that gives turns goes as well; the next one finds what was taken.
TEST_F(Queue, TurnsGoOnWithTheNextProgram)
{
    const auto first = add({{"FAKE_STEPS", "40"}, {"FAKE_STEP_MS", "50"}}), second = add({{"FAKE_STEPS", "3"}});
    const pid_t turns = start_turns();
    ASSERT_TRUE(wait_until([&] { return !at(first).run.empty(); }));
    ASSERT_EQ(kill(turns, SIGKILL), 0);
    EXPECT_EQ(end_of(turns), 128 + SIGKILL);
    EXPECT_EQ(at(first).state, TurnState::taken);
    EXPECT_EQ(at(second).state, TurnState::waiting);
    ASSERT_TRUE(work());
    EXPECT_EQ(at(first).outcome, "ok");
    EXPECT_EQ(at(second).outcome, "ok");
    EXPECT_EQ(begun().size(), 2u) << "the first one still had who saw to it";
}

// What was read of the queue is older than the end of a run whose program has just let go of it.
TEST_F(Queue, ARunThatHasJustEndedIsNotSeenToAgain)
{
    const auto first = add({}), second = add({});
    const auto all_are = [&](TurnState state) {
        ASSERT_TRUE(queue.change([&](QueueContents& contents) -> Expected<void> {
            for (QueuedRun& run : contents.runs)
                run.state = state;
            return {};
        }));
    };
    all_are(TurnState::taken);
    auto held = queue.take(std::to_string(second));
    ASSERT_TRUE(held && held->valid());
    std::vector<std::int64_t> seen_to;
    const auto done = give_turns(queue,
        [&](std::int64_t number) -> Expected<int> {
            seen_to.push_back(number);
            all_are(TurnState::ended);
            held->close();
            const pid_t process = fork();
            if (process == 0)
                _exit(0);
            return process;
        },
        {});
    ASSERT_TRUE(done && *done);
    EXPECT_EQ(seen_to, std::vector{first});
}

TEST_F(Queue, WaitsForARunThatIsNotItsOwn)
{
    ClientProcess other(request(home, 1, {{"FAKE_STEPS", "30"}, {"FAKE_STEP_MS", "50"}}));
    ASSERT_FALSE(other.id().empty());
    const auto number = add({{"FAKE_STEPS", "3"}});
    const pid_t turns = start_turns();
    EXPECT_TRUE(wait_until([&] { return at(number).waits_for == other.id(); }));
    EXPECT_EQ(turn_text(at(number)), "waiting for run " + other.id());
    EXPECT_EQ(end_of(turns), 0);
    EXPECT_EQ(at(number).outcome, "ok");
    EXPECT_EQ(other.end(), 0);
    const auto store = HistoryStore::open(HistoryStore::default_file());
    ASSERT_TRUE(store);
    const auto lines = store->events(other.id());
    ASSERT_TRUE(lines && !lines->empty());
    EXPECT_GE(store->show(at(number).run)->summary.created, std::string(Json::parse(lines->back()).at("time")));
}

TEST_F(Queue, WhatIsTakenOutBeforeItsRunIsGivenUp)
{
    ClientProcess other(request(home, 1, {{"FAKE_STEPS", "60"}, {"FAKE_STEP_MS", "50"}}));
    const auto number = add({{"FAKE_STEPS", "3"}});
    const pid_t turns = start_turns();
    ASSERT_TRUE(wait_until([&] { return !at(number).waits_for.empty(); }));
    EXPECT_TRUE(queue.remove(number));
    EXPECT_EQ(end_of(turns), 0);
    EXPECT_EQ(other.end(), 0);
    const auto store = HistoryStore::open(HistoryStore::default_file());
    ASSERT_TRUE(store);
    EXPECT_EQ(store->list()->size(), 1u) << "only the other program's run";
}

TEST_F(Queue, ARunThatGoesOnIsNotTakenOut)
{
    const auto number = add({{"FAKE_STEPS", "40"}, {"FAKE_STEP_MS", "50"}});
    const pid_t turns = start_turns();
    ASSERT_TRUE(wait_until([&] { return !at(number).run.empty(); }));
    const auto removed = queue.remove(number);
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().hint, "`fourfold stop " + at(number).run + "` ends it");
    EXPECT_EQ(end_of(turns), 0);
}

// Beside the program that follows it, a run is seen from its first event to its last.
TEST_F(Queue, AFollowedRunCanBeWatched)
{
    ClientProcess other(request(home, 1, {{"FAKE_STEPS", "30"}, {"FAKE_STEP_MS", "30"}}));
    Recording observer;
    Recording beside;
    const auto refused = attach(other.id(), beside, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ProblemCode::refused);
    const auto result = watch_run(other.id(), observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(other.end(), 0);
    EXPECT_EQ(observer.id, other.id());
    expect_whole(observer.events, "ok");
    EXPECT_EQ(steps_of(observer.events).size(), 30u);
    EXPECT_FALSE(watch_run("no-such-run", observer, {}));
}

} // namespace
} // namespace fourfold::test
