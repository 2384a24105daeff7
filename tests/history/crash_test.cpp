// SPDX-License-Identifier: GPL-3.0-or-later
// A writer that dies at any moment, two writers at once, and a disk that fills up: what was acknowledged stays, and the
// file is sound. FOURFOLD_CRASH_ROUNDS sets how often the writer is killed.
#include "tests/history/history_test_support.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <gmock/gmock.h>

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <random>
#include <thread>

namespace fourfold {
namespace {

using namespace test;
namespace fs = std::filesystem;

int crash_rounds()
{
    const char* text = std::getenv("FOURFOLD_CRASH_ROUNDS");
    return text ? std::atoi(text) : 25;
}

// Runs `work` in a process of its own; its return value is the exit status.
template <typename Work>
pid_t start(Work&& work)
{
    const pid_t child = ::fork();
    if (child == 0) {
        int status = 99;
        try {
            status = work();
        } catch (const std::exception& error) {
            std::fprintf(stderr, "writer: %s\n", error.what());
        }
        ::_exit(status);
    }
    return child;
}

int wait_for(pid_t child)
{
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Appends batches of 1 to 7 steps for ever and reports each acknowledged seq through `acknowledged`.
int write_for_ever(const fs::path& file, int acknowledged, unsigned seed)
{
    HistoryStore store = open_store(file);
    std::mt19937 random(seed);
    auto next = static_cast<int>(must(store.last_seq("01RUN", "events"))) + 1;
    while (true) {
        std::vector<std::string> lines;
        for (unsigned n = 1 + random() % 7; n > 0; --n, ++next)
            lines.push_back(step_line(next, next));
        must(store.append_events("01RUN", "events", lines));
        const int last = next - 1;
        if (::write(acknowledged, &last, sizeof last) != sizeof last)
            return 1;
    }
}

TEST(Crash, KilledWriterLosesNothingThatWasAcknowledged)
{
    const TemporaryFolder folder;
    const fs::path file = folder / "history.db";
    must(open_store(file).create_run(sample_run("01RUN")));
    std::mt19937 random(3);
    int acknowledged = -1, kills_while_writing = 0;
    for (int round = 0; round < crash_rounds(); ++round) {
        int ends[2];
        ASSERT_EQ(::pipe(ends), 0);
        const pid_t child = start([&] { return write_for_ever(file, ends[1], static_cast<unsigned>(round)); });
        ::close(ends[1]);
        // The first acknowledgement shows that it writes; then it dies at a random moment.
        int last = -1;
        const bool writes = ::read(ends[0], &last, sizeof last) == sizeof last;
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 20000));
        ::kill(child, SIGKILL);
        EXPECT_EQ(wait_for(child), 128 + SIGKILL);
        kills_while_writing += writes;
        if (writes)
            acknowledged = last;
        while (::read(ends[0], &last, sizeof last) == sizeof last)
            acknowledged = last;
        ::close(ends[0]);

        HistoryStore store = open_store(file); // quick_check
        const int64_t cursor = must(store.last_seq("01RUN", "events"));
        ASSERT_GE(cursor, acknowledged) << "round " << round;
        const auto lines = must(store.events("01RUN"));
        ASSERT_EQ(static_cast<int64_t>(lines.size()), cursor + 1) << "round " << round;
        const RunDetail detail = must(store.show("01RUN"));
        ASSERT_EQ(detail.steps.size(), lines.size());
        ASSERT_EQ(detail.summary.steps, static_cast<int>(lines.size()));
    }
    EXPECT_EQ(kills_while_writing, crash_rounds());
    HistoryStore store = open_store(file);
    const auto lines = must(store.events("01RUN"));
    for (std::size_t i = 0; i < lines.size(); ++i)
        ASSERT_EQ(lines[i], step_line(static_cast<int>(i), static_cast<int>(i)));
    SQLite::Database raw(file);
    EXPECT_EQ(raw.execAndGet("PRAGMA integrity_check").getString(), "ok");
}

TEST(Crash, KilledCreationLeavesNoFileThatCannotBeOpened)
{
    const TemporaryFolder folder;
    std::mt19937 random(5);
    for (int round = 0; round < crash_rounds(); ++round) {
        const fs::path file = folder / ("history" + std::to_string(round) + ".db");
        const pid_t child = start([&] {
            must(open_store(file).create_run(sample_run("01RUN")));
            return 0;
        });
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 15000));
        ::kill(child, SIGKILL);
        wait_for(child);
        HistoryStore store = open_store(file);
        ASSERT_LE(must(store.list()).size(), 1u);
    }
}

TEST(TwoWriters, WaitForEachOther)
{
    const TemporaryFolder folder;
    const fs::path file = folder / "history.db";
    {
        HistoryStore store = open_store(file);
        must(store.create_run(sample_run("A")));
        must(store.create_run(sample_run("B")));
    }
    const auto writer = [&](const std::string& run) {
        return start([&file, run] {
            HistoryStore store = open_store(file);
            for (int i = 0; i < 150; ++i)
                must(store.append_events(run, "events", {step_line(i, i)}));
            return 0;
        });
    };
    // The two writers of A also race for the same events: each is stored once.
    const pid_t children[] = {writer("A"), writer("A"), writer("B")};
    for (const pid_t child : children)
        EXPECT_EQ(wait_for(child), 0);
    HistoryStore store = open_store(file);
    for (const char* run : {"A", "B"}) {
        EXPECT_EQ(must(store.last_seq(run, "events")), 149);
        EXPECT_EQ(must(store.show(run)).steps.size(), 150u);
        EXPECT_EQ(must(store.show(run)).summary.steps, 150);
    }
}

TEST(TwoWriters, GiveUpWithAClearLine)
{
    const TemporaryFolder folder;
    HistoryStore store = open_store(folder / "history.db");
    must(store.create_run(sample_run("01RUN")));
    SQLite::Database other(folder / "history.db", SQLite::OPEN_READWRITE);
    other.exec("BEGIN IMMEDIATE");
    const auto result = store.append_events("01RUN", "events", {step_line(0, 1)});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ProblemCode::refused);
    EXPECT_EQ(must(store.list()).size(), 1u) << "readers do not wait";
    other.exec("ROLLBACK");
    must(store.append_events("01RUN", "events", {step_line(0, 1)}));
}

// Appends until the disk is full, then checks that every acknowledged event is there and that the store goes on
// once `free_space` made room. Returns 0 when all is as promised.
template <typename FreeSpace>
int fill_disk(const fs::path& file, FreeSpace&& free_space)
{
    HistoryStore store = open_store(file);
    must(store.create_run(sample_run("01RUN")));
    const std::string filler(2000, 'x');
    int next = 0;
    Expected<void> result;
    for (; next < 100000; ++next) {
        const std::string line
            = R"({"seq":)" + std::to_string(next) + R"(,"event":"warning","message":")" + filler + R"("})";
        result = store.append_events("01RUN", "events", {line});
        if (!result)
            break;
    }
    if (result || result.error().code != ProblemCode::io)
        return 10;
    if (next == 0 || must(store.last_seq("01RUN", "events")) != next - 1)
        return 11;
    if (must(store.events("01RUN")).size() != static_cast<std::size_t>(next))
        return 12;
    free_space();
    must(store.append_events("01RUN", "events", {end_line(next, "ok")}));
    store = open_store(file);
    return must(store.show("01RUN")).summary.state == RunState::ok && must(store.last_seq("01RUN", "events")) == next
        ? 0
        : 13;
}

TEST(FullDisk, LimitOfTheFileSizeLeavesTheStoreSound)
{
    const TemporaryFolder folder;
    const pid_t child = start([&] {
        ::signal(SIGXFSZ, SIG_IGN);
        rlimit limit{};
        ::getrlimit(RLIMIT_FSIZE, &limit);
        const rlimit before = limit;
        limit.rlim_cur = 1 << 20;
        ::setrlimit(RLIMIT_FSIZE, &limit);
        return fill_disk(folder / "history.db", [&] { ::setrlimit(RLIMIT_FSIZE, &before); });
    });
    EXPECT_EQ(wait_for(child), 0);
    EXPECT_EQ(must(open_store(folder / "history.db").list()).size(), 1u);
}

TEST(FullDisk, FullFileSystemLeavesTheStoreSound)
{
    constexpr int kNoMount = 77;
    const TemporaryFolder folder;
    const std::string& disk = folder.path().string();
    const pid_t child = start([&] {
        // A mount that only this process sees, gone with it.
        if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0
            || ::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=2m") != 0)
            return kNoMount;
        return fill_disk(disk + "/history.db", [&] { ::mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=8m"); });
    });
    const int status = wait_for(child);
    if (status == kNoMount)
        GTEST_SKIP() << "needs the right to mount a small tmpfs";
    EXPECT_EQ(status, 0);
}

TEST(FullDisk, MigrationWithoutSpaceForTheCopyChangesNothing)
{
    const TemporaryFolder folder;
    const fs::path file = folder / "history.db";
    {
        SQLite::Database database(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        database.exec("PRAGMA journal_mode = WAL");
        for (const char* name : {"core/history/schema_v1.sql", "tests/history/v1_rows.sql"})
            database.exec(must(read_text_file(fs::path(FOURFOLD_SOURCE_DIR) / name)));
        database.exec("PRAGMA application_id = 1179012164; PRAGMA user_version = 1");
    }
    const pid_t child = start([&] {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{20000, RLIM_INFINITY};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        const auto store = HistoryStore::open(file);
        return store ? 20 : store.error().code == ProblemCode::io ? 0 : 21;
    });
    EXPECT_EQ(wait_for(child), 0);
    for (const auto& entry : fs::directory_iterator(folder.path()))
        EXPECT_EQ(entry.path().filename().string().find(".bak"), std::string::npos) << entry.path();
    EXPECT_EQ(SQLite::Database(file).execAndGet("PRAGMA user_version").getInt(), 1);
    EXPECT_EQ(must(open_store(file).list()).size(), 2u) << "with space it migrates";
}

} // namespace
} // namespace fourfold
