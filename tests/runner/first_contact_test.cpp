// SPDX-License-Identifier: GPL-3.0-or-later
// The first contact with a host where others may write: nothing of theirs is run, and nothing is made where it would be
// theirs. Attacks by a second user need root; the others work as any user.
#include "core/base/sha256.h"
#include "runner/ssh/ssh_transport.h"
#include "tests/runner/sshd.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

namespace fourfold::test {
namespace {

constexpr uid_t kStranger = 64123; // no user of any machine that this runs on

bool says(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

std::string agent_hash()
{
    static const std::string kHash = sha256_file(agent_program()).value();
    return kHash;
}

// A folder that every user can reach, removed at the end; `scratch` in it is as a cluster's: anybody may make things
// there, and move only what is his.
class SharedDisk {
public:
    SharedDisk()
    {
        umask(022);
        std::string pattern = (std::filesystem::temp_directory_path() / "fourfold.XXXXXX").string();
        path_ = std::filesystem::canonical(mkdtemp(pattern.data()));
        chmod(path_.c_str(), 0755);
        folder("scratch", 01777);
    }
    SharedDisk(const SharedDisk&) = delete;
    SharedDisk& operator=(const SharedDisk&) = delete;
    ~SharedDisk()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    std::filesystem::path folder(const std::string& name, mode_t mode = 0755) const
    {
        std::filesystem::create_directories(path_ / name);
        chmod((path_ / name).c_str(), mode);
        return path_ / name;
    }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

// A program that leaves `mark` where it runs, then does what the agent does.
void write_evil(const std::filesystem::path& file, const std::filesystem::path& mark)
{
    std::ofstream(file) << "#!/bin/sh\nid -u >>" << mark.string() << "\n[ \"$1\" = version ] && exit 0\nexec "
                        << agent_program().string() << " \"$@\"\n";
    chmod(file.c_str(), 0755);
}

// Gives the agent's bytes to who hashes them through a FIFO, and puts another program in its place before their end.
void feed_and_swap(const std::string& bytes, const std::filesystem::path& place, const std::filesystem::path& evil)
{
    const int fd = open(place.c_str(), O_WRONLY);
    if (fd < 0)
        return;
    for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t wrote = write(fd, bytes.data() + at, bytes.size() - at);
        if (wrote <= 0)
            break;
        at += static_cast<std::size_t>(wrote);
    }
    rename(evil.c_str(), place.c_str());
    close(fd);
}

// A process of the test that ends with it, as another user where `user` says so.
class Attacker {
public:
    template <typename Attack>
    Attacker(uid_t user, Attack attack)
    {
        pid_ = fork();
        if (pid_ != 0)
            return;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (user != geteuid()
            && (setgroups(0, nullptr) != 0 || setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0))
            _exit(1);
        signal(SIGPIPE, SIG_IGN);
        attack();
        _exit(0);
    }
    Attacker(const Attacker&) = delete;
    Attacker& operator=(const Attacker&) = delete;
    ~Attacker()
    {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }

private:
    pid_t pid_;
};

class FirstContact : public testing::Test {
protected:
    void SetUp() override
    {
        if (const std::string why = why_no_sshd(); !why.empty())
            GTEST_SKIP() << why;
        host.start();
        observer.trust = true;
    }

    // How a run with this base folder ends: "ok", or the line that says why it did not start.
    std::string outcome(const std::filesystem::path& base, const std::vector<std::string>& group_writable = {})
    {
        RunRequest asked = request(home, 1, {{"FAKE_STEPS", "1"}});
        asked.target = ssh_target(home, {&host});
        asked.target.base_folder = base.string();
        asked.target.group_writable_folders = group_writable;
        const auto result = launch(asked, observer, {});
        return result ? std::string(name(result->state)) : result.error().line();
    }
    [[nodiscard]] std::string uploads() const
    {
        std::string out;
        for (const std::string& what : observer.staged)
            out += what + "; ";
        return out;
    }

    SharedDisk disk;
    Home home;
    Sshd host{home, "node"};
    Recording observer;
};

TEST_F(FirstContact, AFifoOfAnotherUserFeedsNothing)
{
    if (geteuid() != 0)
        GTEST_SKIP() << "acting as a second user needs root";
    const auto base = disk.path() / "scratch/ff", place = base / "agent" / agent_hash(), mark = base / "ran";
    const std::string bytes = read_text_file(agent_program(), 256u << 20).value();
    const Attacker attacker(kStranger, [&] {
        std::filesystem::create_directories(place);
        write_evil(place / "evil", mark);
        mkfifo((place / "fourfold-agent").c_str(), 0644);
        feed_and_swap(bytes, place / "fourfold-agent", place / "evil");
    });
    ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(place / "fourfold-agent"); }));
    const std::string line = outcome(base);
    EXPECT_TRUE(says(line, base.string() + " belongs to another user")) << line;
    EXPECT_FALSE(std::filesystem::exists(mark)) << "their program ran as this user";
    EXPECT_TRUE(std::filesystem::is_fifo(place / "fourfold-agent")) << "not one byte of it was read";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(base)) {
        struct stat info { };
        ASSERT_EQ(lstat(entry.path().c_str(), &info), 0);
        EXPECT_EQ(info.st_uid, kStranger) << "nothing is made in their folder: " << entry.path();
    }
}

// The same by whoever may write a folder on the way, which is a matter of modes alone.
TEST_F(FirstContact, AFifoInAFolderThatOthersMayWriteFeedsNothing)
{
    const auto open = disk.folder("open", 0777), base = open / "ff", place = base / "agent" / agent_hash();
    std::filesystem::create_directories(place);
    write_evil(place / "evil", disk.path() / "ran");
    ASSERT_EQ(mkfifo((place / "fourfold-agent").c_str(), 0644), 0);
    const std::string bytes = read_text_file(agent_program(), 256u << 20).value();
    const Attacker attacker(geteuid(), [&] { feed_and_swap(bytes, place / "fourfold-agent", place / "evil"); });
    const std::string line = outcome(base);
    EXPECT_TRUE(says(line, open.string() + " may be written by others")) << line;
    EXPECT_TRUE(says(line, "chmod go-w " + open.string())) << line;
    EXPECT_FALSE(std::filesystem::exists(disk.path() / "ran"));
    EXPECT_TRUE(std::filesystem::is_fifo(place / "fourfold-agent")) << "not one byte of it was read";
}

// In a folder of one's own nobody else can have put it there: it is replaced, and nobody waits for a writer.
TEST_F(FirstContact, WhatIsNoRegularFileOfTheUserIsReplaced)
{
    const auto base = disk.folder("mine/ff", 0700), place = base / "agent" / agent_hash();
    std::filesystem::create_directories(place);
    const auto agent = place / "fourfold-agent";
    ASSERT_EQ(mkfifo(agent.c_str(), 0644), 0);
    EXPECT_EQ(outcome(base), "ok");
    EXPECT_TRUE(says(uploads(), "fourfold-agent"));
    const auto is_right = [&] {
        struct stat info { };
        return lstat(agent.c_str(), &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 0777) == 0500
            && sha256_file(agent).value() == agent_hash();
    };
    EXPECT_TRUE(is_right());

    // A link, also to the right bytes: who may change those is another question.
    std::filesystem::rename(agent, place / "elsewhere");
    std::filesystem::create_symlink("elsewhere", agent);
    observer.staged.clear();
    EXPECT_EQ(outcome(base), "ok");
    EXPECT_TRUE(says(uploads(), "fourfold-agent"));
    EXPECT_TRUE(is_right());

    // The right bytes in a file that others may write.
    chmod(agent.c_str(), 0777);
    observer.staged.clear();
    EXPECT_EQ(outcome(base), "ok");
    EXPECT_TRUE(says(uploads(), "fourfold-agent"));
    EXPECT_TRUE(is_right());
    observer.staged.clear();
    EXPECT_EQ(outcome(base), "ok");
    EXPECT_FALSE(says(uploads(), "fourfold-agent")) << "and now it stays";
}

// A sha256sum that puts another program in the place of what it has hashed: the moment between check and start.
TEST_F(FirstContact, WhatWasHashedIsWhatRuns)
{
    const auto base = disk.folder("mine/ff", 0700), mark = disk.path() / "ran", swapped = disk.path() / "swapped";
    const auto tools = disk.folder("tools");
    write_evil(tools / "evil", mark);
    std::ofstream(tools / "sha256sum") << "#!/bin/sh\n/usr/bin/sha256sum || exit 1\nfor file in " << base.string()
                                       << "/agent/" << agent_hash() << "/fourfold-agent*; do [ -f \"$file\" ] && cp "
                                       << (tools / "evil").string() << " \"$file.new\" && chmod 500 \"$file.new\" && "
                                       << "mv -f \"$file.new\" \"$file\" && echo \"$file\" >>" << swapped.string()
                                       << "; done\nexit 0\n";
    chmod((tools / "sha256sum").c_str(), 0755);
    Sshd hasty(home, "hasty",
        {"127.0.0.1", 0, {}, {}, {}, {}, false, "PATH=" + tools.string() + ":/usr/local/bin:/usr/bin:/bin"});
    hasty.start();
    RunRequest asked = request(home, 1, {{"FAKE_STEPS", "1"}});
    asked.target = ssh_target(home, {&hasty});
    asked.target.base_folder = base.string();
    // The first contact sends the agent; the second finds the other program in its place, and sends it again.
    for (int contact = 0; contact < 2; ++contact) {
        const auto result = launch(asked, observer, {});
        EXPECT_TRUE(result) << result.error().line();
        EXPECT_FALSE(std::filesystem::exists(mark)) << "another program than the hashed one was run";
    }
    // With the right one there, what is found is hashed, exchanged and run.
    const auto agent = base / "agent" / agent_hash() / "fourfold-agent";
    std::filesystem::remove(agent); // it is read-only, and only root writes into it all the same
    std::filesystem::copy_file(agent_program(), agent);
    chmod(agent.c_str(), 0500);
    observer.staged.clear();
    const auto result = launch(asked, observer, {});
    EXPECT_TRUE(result) << result.error().line();
    EXPECT_FALSE(says(uploads(), "fourfold-agent")) << "it was there";
    EXPECT_FALSE(std::filesystem::exists(mark)) << "another program than the hashed one was run";
    const auto times = read_text_file(swapped);
    ASSERT_TRUE(times);
    EXPECT_GE(std::count(times->begin(), times->end(), '\n'), 3) << "the exchange took place";
}

TEST_F(FirstContact, AFolderThatItsGroupMayWriteIsUsedWhenNamed)
{
    const auto lab = disk.folder("lab", 0775);
    const std::string line = outcome(lab / "ff");
    EXPECT_TRUE(says(line, lab.string() + " may be written by its group")) << line;
    EXPECT_TRUE(says(line, "chmod g-w " + lab.string())) << line;
    EXPECT_TRUE(says(line, "group_writable_folders")) << line;
    EXPECT_TRUE(std::filesystem::is_empty(lab)) << "nothing is made there";
    EXPECT_EQ(outcome(lab / "ff", {"/elsewhere", lab.string()}), "ok");
    // The same folder, by another way.
    std::filesystem::create_symlink(lab, disk.path() / "link");
    EXPECT_EQ(outcome(disk.path() / "link/ff", {lab.string()}), "ok");
    EXPECT_TRUE(says(outcome(disk.path() / "link/ff", {(disk.path() / "link").string()}), lab.string()));
}

TEST_F(FirstContact, AStickyFolderIsSafeForWhatIsTheUsers)
{
    EXPECT_EQ(outcome(disk.path() / "scratch/me/ff"), "ok");
    if (geteuid() != 0)
        return; // the rest needs a second user
    std::filesystem::create_directory(disk.path() / "scratch/theirs");
    std::filesystem::create_symlink(disk.path() / "scratch/me", disk.path() / "scratch/link");
    for (const char* name : {"theirs", "link"})
        ASSERT_EQ(lchown((disk.path() / "scratch" / name).c_str(), kStranger, kStranger), 0);
    const std::string folder = outcome(disk.path() / "scratch/theirs/ff"),
                      link = outcome(disk.path() / "scratch/link/ff");
    EXPECT_TRUE(says(folder, "scratch/theirs belongs to another user")) << folder;
    EXPECT_TRUE(says(link, "scratch/link belongs to another user")) << link;
    EXPECT_TRUE(std::filesystem::is_empty(disk.path() / "scratch/theirs"));
}

// The descriptor that was run stays open nowhere, and lists of processes show a name.
TEST_F(FirstContact, TheAgentLooksAsIfItHadBeenStartedByItsName)
{
    int agents = 0;
    observer.each_event = [&](const Json&) {
        for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
            std::error_code gone;
            const auto program = std::filesystem::read_symlink(entry.path() / "exe", gone);
            if (!program.string().starts_with((disk.path() / "scratch/ff/agent").string()))
                continue;
            const auto words = read_text_file(entry.path() / "cmdline");
            const auto name = read_text_file(entry.path() / "comm");
            if (!words || !name)
                continue; // it has just ended
            ++agents;
            EXPECT_TRUE(words->starts_with(std::string("fourfold-agent\0", 15))) << *words;
            EXPECT_EQ(*name, "fourfold-agent\n");
            for (const auto& fd : std::filesystem::directory_iterator(entry.path() / "fd", gone))
                EXPECT_NE(std::filesystem::read_symlink(fd.path(), gone), program) << fd.path();
        }
    };
    EXPECT_EQ(outcome(disk.path() / "scratch/ff"), "ok");
    EXPECT_GE(agents, 1);
}

TEST_F(FirstContact, ALibraryThatOthersCouldExchangeIsCopiedBeforeItIsUsed)
{
    const auto lab = disk.folder("lab", 0775);
    RunRequest asked = request(home, 1, {{"FAKE_STEPS", "1"}});
    asked.target = ssh_target(home, {&host});
    asked.target.reuse_files = true;
    asked.trainer = lab / "fake-trainer"; // under the same path here and there
    std::filesystem::copy_file(fake_trainer(), asked.trainer);
    chmod(asked.trainer.c_str(), 0755);
    const auto linked_to = [&] {
        const auto result = launch(asked, observer, {});
        EXPECT_TRUE(result && result->state == RunState::ok) << (result ? "" : result.error().line());
        return result ? std::filesystem::read_symlink(home.path() / "node/runs" / result->id / "bin/fake-trainer")
                      : std::filesystem::path();
    };
    const auto stored = home.path() / "node/store" / sha256_file(asked.trainer).value();
    EXPECT_EQ(linked_to(), stored) << "who may write the folder could put another program there";
    EXPECT_FALSE(says(uploads(), "fake-trainer")) << "it is copied there, not sent";
    std::filesystem::remove(stored);
    chmod(lab.c_str(), 0755);
    EXPECT_EQ(linked_to(), asked.trainer);
    if (geteuid() == 0) {
        ASSERT_EQ(chown(lab.c_str(), kStranger, kStranger), 0);
        EXPECT_EQ(linked_to(), stored);
    }
}

// --- the command itself, in the shells that this computer has ---

// Speaks the first contact's part with `shell -c command` up to the session; what it answered, in one line.
std::string converse(const std::vector<std::string>& shell, const std::string& command, const std::string& base)
{
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], 0);
        dup2(ends[1], 1);
        dup2(open("/dev/null", O_WRONLY), 2);
        std::vector<char*> words;
        for (const std::string& word : shell)
            words.push_back(const_cast<char*>(word.c_str()));
        std::string c = "-c";
        words.push_back(c.data());
        words.push_back(const_cast<char*>(command.c_str()));
        words.push_back(nullptr);
        execvp(words[0], words.data());
        _exit(127);
    }
    close(ends[1]);
    const auto say = [&](const std::string& text) {
        for (std::size_t at = 0; at < text.size();) {
            const ssize_t sent = send(ends[0], text.data() + at, text.size() - at, MSG_NOSIGNAL);
            if (sent <= 0)
                return;
            at += static_cast<std::size_t>(sent);
        }
    };
    say(base + "\n" + agent_hash() + "\n\n");
    std::string answers, line;
    for (char c = 0; read(ends[0], &c, 1) == 1;) {
        if (c != '\n') {
            line += c;
            continue;
        }
        if (line.starts_with("FOURFOLD "))
            answers += line.substr(9) + ";";
        if (line == "FOURFOLD need") {
            const std::string program = read_text_file(agent_program(), 256u << 20).value();
            say(std::to_string(program.size()) + "\n" + program);
        }
        if (line == "FOURFOLD ready")
            break;
        line.clear();
    }
    close(ends[0]); // the session ends with its input
    int status = 0;
    waitpid(pid, &status, 0);
    return answers + (WIFEXITED(status) ? std::to_string(WEXITSTATUS(status)) : "killed");
}

std::vector<std::vector<std::string>> shells_here()
{
    std::vector<std::vector<std::string>> out{{"/bin/sh"}};
    for (const char* name : {"dash", "bash", "mksh", "ksh93", "yash", "busybox", "zsh", "csh", "tcsh", "fish"}) {
        for (const char* folder : {"/bin/", "/usr/bin/"}) {
            if (access((std::string(folder) + name).c_str(), X_OK) != 0)
                continue;
            out.push_back({std::string(folder) + name});
            if (std::string(name) == "busybox")
                out.back().emplace_back("sh");
            break;
        }
    }
    return out;
}

// A PATH with "." in it, or with an empty name, which means the same, is that of many a login shell.
TEST(RemoteCommand, RunsNoProgramOfAFolderThatItGoesThrough)
{
    const SharedDisk disk;
    const auto open = disk.folder("open", 01777), marks = disk.folder("marks", 0777);
    for (const char* name : {"ls", "id", "readlink", "sha256sum", "mkdir", "head", "chmod", "mv", "rm", "uname"}) {
        const auto file = open / name;
        std::ofstream(file) << "#!/bin/sh\n: >'" << (marks / name).string() << "'\nexec /bin/" << name << " \"$@\"\n";
        chmod(file.c_str(), 0755);
    }
    int kinds = 0;
    for (const char* path : {"PATH=.:$PATH", "PATH=:$PATH", "PATH=", "PATH=/opt/nothing"}) {
        const std::string base = open / ("mine" + std::to_string(kinds++));
        const std::string command = std::string(path) + "; export PATH; " + remote_command();
        EXPECT_EQ(converse({"/bin/sh"}, command, base), "need;ready;0") << path;
        EXPECT_EQ(converse({"/bin/sh"}, command, base), "have;ready;0") << path;
    }
    EXPECT_TRUE(std::filesystem::is_empty(marks)) << *std::filesystem::directory_iterator(marks);
}

TEST(RemoteCommand, EveryShellMakesTheSameOfIt)
{
    const SharedDisk disk;
    const Home home;
    const std::string command(remote_command());
    int kinds = 0;
    for (const auto& shell : shells_here()) {
        const std::string base = disk.folder("mine", 0700) / std::to_string(kinds++);
        EXPECT_EQ(converse(shell, command, base), "need;ready;0") << shell[0];
        EXPECT_EQ(converse(shell, command, base), "have;ready;0") << shell[0];
        const auto lab = disk.folder("lab", 0775);
        EXPECT_EQ(converse(shell, command, lab / "ff"), "error group " + lab.string() + ";1") << shell[0];
        // As the shell that runs it, too; those of other families are login shells only.
        const std::string name = std::filesystem::path(shell[0]).filename();
        if (name == "csh" || name == "tcsh" || name == "fish" || name == "zsh")
            continue;
        std::string inner = command;
        inner.replace(inner.find("/bin/sh"), 7, shell[0] + (shell.size() > 1 ? " " + shell[1] : ""));
        EXPECT_EQ(converse({"/bin/sh"}, inner, base + "-inner"), "need;ready;0") << shell[0];
        EXPECT_EQ(converse({"/bin/sh"}, inner, base + "-inner"), "have;ready;0") << shell[0];
    }
    EXPECT_GE(kinds, 2);
}

} // namespace
} // namespace fourfold::test
