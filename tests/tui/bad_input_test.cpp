// SPDX-License-Identifier: GPL-3.0-or-later
// What goes wrong around a planner in a terminal: pastes without end, a full disk, a history that another program
// holds. A line says so, nothing is lost, and the terminal is left as it was.
#include "core/history/store.h"
#include "tests/history/history_test_support.h"
#include "tests/tui/tui_fixture.h"

#include <fcntl.h>
#include <optional>
#include <set>
#include <unistd.h>
#include <utility>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TuiBadInput : public Tui {
protected:
    ~TuiBadInput() override { unlock(); }
    [[nodiscard]] std::filesystem::path history() const { return folder_ / "data/fourfold/history.db"; }
    void store_run() const
    {
        std::filesystem::create_directories(history().parent_path());
        HistoryStore store = open_store(history());
        NewRun run = sample_run("01J0000000000000000000000A");
        run.name = "first";
        must(store.create_run(run));
        must(store.append_events(run.id, "events", {step_line(0, 1, 100, 3)}));
        must(store.set_state(run.id, RunState::ok));
    }
    // Bytes of a file of its as SQLite locks them.
    void lock(const std::filesystem::path& file, off_t first, off_t count)
    {
        lock_ = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
        ASSERT_GE(lock_, 0) << file;
        struct flock bytes { };
        bytes.l_type = F_WRLCK;
        bytes.l_whence = SEEK_SET;
        bytes.l_start = first;
        bytes.l_len = count;
        ASSERT_EQ(::fcntl(lock_, F_SETLK, &bytes), 0);
    }
    void unlock()
    {
        if (lock_ >= 0)
            ::close(std::exchange(lock_, -1));
    }
    static void leaves(TerminalProgram& program)
    {
        program.type("q");
        EXPECT_EQ(program.wait(), 0);
        EXPECT_FALSE(program.grid().in_alternate_screen());
        EXPECT_TRUE(program.grid().shows_cursor());
        EXPECT_TRUE(program.echoes());
    }

private:
    int lock_ = -1;
};

const std::string kTenMegabytes(10 << 20, 'x');

TEST_F(TuiBadInput, APasteWithoutALineForItIsNoCommand)
{
    TerminalProgram program(fixed(), options());
    ASSERT_TRUE(program.shows("Fits."));
    program.type("\033[200~" + kTenMegabytes.substr(0, 1 << 20) + "q\r+\033[201~");
    ASSERT_TRUE(program.shows("There is no line to paste into")) << program.grid().text();
    EXPECT_TRUE(program.shows("2 \u00d7 1 \u00d7 2 \u00d7 4 = 16")) << "none of it was taken for a key";
    leaves(program);
}

TEST_F(TuiBadInput, ALineWithoutEndIsLeftOutWhereThereAreOnlyLines)
{
    std::ofstream(folder_ / "typed") << kTenMegabytes << "\ntp 4\nq\nd\n";
    TerminalProgram::Options dumb = options(24, 200);
    dumb.environment["TERM"] = "dumb";
    TerminalProgram program({"/bin/sh", "-c", "exec " FOURFOLD_FIXED_PLANNER " \"$0\" <\"$1\"", plan().string(),
                                (folder_ / "typed").string()},
        dumb);
    EXPECT_TRUE(program.says("this one was left out", std::chrono::seconds(60))) << program.bytes();
    EXPECT_TRUE(program.says("4 \u00d7 1 \u00d7 2 \u00d7 2 = 16")) << program.bytes();
    EXPECT_EQ(program.wait(), 0);
    EXPECT_LT(program.bytes().size(), 100'000U);
}

TEST_F(TuiBadInput, AFullDiskAtAnExportIsALine)
{
    if (::geteuid() != 0)
        GTEST_SKIP() << "only root can make a small disk";
    const std::filesystem::path disk = folder_ / "disk";
    std::filesystem::create_directories(disk);
    TerminalProgram program({"/usr/bin/unshare", "-m", "/bin/sh", "-c",
                                "mount -t tmpfs -o size=8k none $0 && head -c 8192 /dev/zero >$0/all; exec \"$@\"",
                                disk.string(), FOURFOLD_FIXED_PLANNER, plan().string()},
        options(24, 200));
    ASSERT_TRUE(program.shows("Fits."));
    const auto is_said = [&](const std::string& keys, const std::string& name) {
        program.type(keys);
        ASSERT_TRUE(program.shows("Enter takes it")) << program.grid().text();
        program.type("\x15" + (disk / name).string() + "\r");
        EXPECT_TRUE(program.shows("No space left on device")) << name << "\n" << program.grid().text();
        program.type("j");
        ASSERT_TRUE(program.hides("No space left")) << program.grid().text();
    };
    for (const char* name : {"x.csv", "x.json", "x.svg", "x.png", "x.pdf"})
        is_said("e", name);
    is_said("X", "report.pdf");
    is_said("w", "saved.plan.json");
    // Nothing half written is left there, and the plan is still that of its file.
    std::set<std::string> left;
    const std::string there = "/proc/" + std::to_string(program.process()) + "/root" + disk.string();
    for (const auto& file : std::filesystem::directory_iterator(there))
        left.insert(file.path().filename());
    EXPECT_EQ(left, std::set<std::string>{"all"});
    EXPECT_TRUE(program.shows(" p.plan.json")) << program.grid().text();
    leaves(program);
}

// Where the session itself has no room, that is said once, and all else goes on.
TEST_F(TuiBadInput, AFullDiskUnderTheSessionIsSaidOnce)
{
    if (::geteuid() != 0)
        GTEST_SKIP() << "only root can make a small disk";
    const std::filesystem::path disk = folder_ / "data";
    std::filesystem::create_directories(disk);
    TerminalProgram program(
        {"/usr/bin/unshare", "-m", "/bin/sh", "-c",
            "mount -t tmpfs -o size=8k none $0 && mkdir $0/fourfold && head -c 8192 /dev/zero >$0/all; exec \"$@\"",
            disk.string(), FOURFOLD_FIXED_PLANNER, plan().string()},
        options(24, 200));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("jjjjj+");
    ASSERT_TRUE(program.shows("What is not saved would be lost in a crash")) << program.grid().text();
    program.type("k");
    ASSERT_TRUE(program.hides("would be lost")) << program.grid().text();
    program.settle(std::chrono::milliseconds(2000));
    EXPECT_THAT(program.grid().text(), Not(HasSubstr("would be lost")));
    program.type("\x13"); // Ctrl+S: the plan lies elsewhere
    ASSERT_TRUE(program.shows("Saved p.plan.json")) << program.grid().text();
    leaves(program);
}

TEST_F(TuiBadInput, AHistoryThatAnotherProgramHasLockedIsSaid)
{
    store_run();
    lock(history(), 0x40000000, 512); // for one program alone (sqlite.org/fileformat, "lock bytes")
    TerminalProgram program(fixed(), options());
    ASSERT_TRUE(program.shows("Fits."));
    program.type("5");
    ASSERT_TRUE(program.shows("writing the history", std::chrono::seconds(30))) << program.grid().text();
    program.type("1");
    EXPECT_TRUE(program.shows("Fits."));
    unlock();
    program.type("5");
    EXPECT_TRUE(program.shows("1 of 1 run")) << program.grid().text();
    leaves(program);
}

// Another program is in the middle of writing: what is there can be read; an edit waits, says so, and is not half done.
TEST_F(TuiBadInput, AnEditOfAHistoryThatAnotherProgramWritesIsSaid)
{
    store_run();
    std::optional<HistoryStore> open(open_store(history())); // whose log stays meanwhile
    TerminalProgram program(fixed(), options(24, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("5");
    ASSERT_TRUE(program.shows("1 of 1 run")) << program.grid().text();
    lock(history().string() + "-shm", 120, 1); // of one that writes (sqlite.org/walformat, "WAL_WRITE_LOCK")
    program.type("t");
    ASSERT_TRUE(program.shows("Enter takes it")) << program.grid().text();
    program.type("paper\r");
    ASSERT_TRUE(program.shows("writing the history", std::chrono::seconds(30))) << program.grid().text();
    unlock();
    EXPECT_EQ(must(open->list()).front().tags, std::vector<std::string>());
    program.type("\033"); // what says so
    ASSERT_TRUE(program.hides("writing the history")) << program.grid().text();
    program.type("t");
    ASSERT_TRUE(program.shows("Enter takes it")) << program.grid().text();
    program.type("\x15paper\r");
    ASSERT_TRUE(program.shows("paper")) << program.grid().text();
    EXPECT_EQ(must(open->list()).front().tags, std::vector<std::string>{"paper"});
    leaves(program);
}

} // namespace
} // namespace fourfold::test
