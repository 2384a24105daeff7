// SPDX-License-Identifier: GPL-3.0-or-later
// What a person at a terminal is asked: about a host's key, for a passphrase; and Ctrl-C instead of an answer.
#include "tests/runner/sshd.h"

#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

namespace fourfold::test {
namespace {

// `fourfold probe HOST --quick` at a terminal of its own.
class AtTerminal {
public:
    explicit AtTerminal(const std::string& target)
    {
        process_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
        if (process_ == 0) {
            execl(FOURFOLD_BIN_DIR "/fourfold", "fourfold", "probe", target.c_str(), "--quick", nullptr);
            _exit(127);
        }
    }
    AtTerminal(const AtTerminal&) = delete;
    AtTerminal& operator=(const AtTerminal&) = delete;
    ~AtTerminal()
    {
        if (process_ > 0) {
            kill(process_, SIGKILL);
            waitpid(process_, nullptr, 0);
        }
        close(terminal_);
    }

    // Reads until `text` was printed.
    bool prints(const std::string& text)
    {
        return wait_until([&] { return read_more() && shown_.find(text) != std::string::npos; });
    }
    void type(const std::string& text) const
    {
        EXPECT_EQ(write(terminal_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    [[nodiscard]] bool echoes() const
    {
        termios now{};
        return tcgetattr(terminal_, &now) == 0 && (now.c_lflag & ECHO) != 0;
    }
    // The exit status; -1 when it does not end within ten seconds.
    int end()
    {
        int status = 0;
        if (!wait_until([&] { return read_more() && waitpid(process_, &status, WNOHANG) == process_; }, 10))
            return -1;
        process_ = 0;
        read_more();
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    [[nodiscard]] const std::string& shown() const { return shown_; }

private:
    bool read_more()
    {
        fd_set ready;
        FD_ZERO(&ready);
        FD_SET(terminal_, &ready);
        timeval no_time{};
        while (select(terminal_ + 1, &ready, nullptr, nullptr, &no_time) == 1) {
            char block[4096];
            const ssize_t got = read(terminal_, block, sizeof block);
            if (got <= 0)
                break;
            shown_.append(block, static_cast<std::size_t>(got));
        }
        return true;
    }

    pid_t process_ = 0;
    int terminal_ = -1;
    std::string shown_;
};

class Terminal : public testing::Test {
protected:
    void SetUp() override
    {
        if (const std::string why = why_no_sshd(); !why.empty())
            GTEST_SKIP() << why;
        server.start();
        Target all = ssh_target(home, {&server});
        ASSERT_TRUE(write_file_atomically(target, to_json(all).dump()));
    }

    Home home;
    Sshd server{home, "node"};
    std::string target = (home.path() / "there.json").string();
    std::filesystem::path known = home.path() / "config/fourfold/known_hosts";
};

TEST_F(Terminal, AsksOnceAboutAHostsKey)
{
    for (const char* answer : {"n\n", "\n", "\x03", "\x04"}) {
        AtTerminal probe(target);
        ASSERT_TRUE(probe.prints("[y/N]")) << probe.shown();
        EXPECT_NE(probe.shown().find(server.fingerprint()), std::string::npos);
        probe.type(answer);
        EXPECT_EQ(probe.end(), 1) << "Ctrl-C is an answer too\n" << probe.shown();
        EXPECT_FALSE(std::filesystem::exists(known));
    }
    AtTerminal yes(target);
    ASSERT_TRUE(yes.prints("[y/N]")) << yes.shown();
    yes.type("y\n");
    EXPECT_NE(yes.end(), -1);
    EXPECT_TRUE(std::filesystem::exists(known)) << yes.shown();
    AtTerminal again(target);
    EXPECT_NE(again.end(), -1);
    EXPECT_EQ(again.shown().find("[y/N]"), std::string::npos) << again.shown();
}

TEST_F(Terminal, APassphraseIsNotShownAndCtrlCGivesTheTerminalBack)
{
    ASSERT_EQ(
        run_program({"ssh-keygen", "-q", "-p", "-P", "", "-N", "open sesame", "-f", client_key(home).string()}), 0);
    for (const char* answer : {"\x03", "open sesame\n"}) {
        AtTerminal probe(target);
        if (*answer == '\x03') {
            ASSERT_TRUE(probe.prints("[y/N]")) << probe.shown();
            probe.type("y\n");
        }
        ASSERT_TRUE(probe.prints("passphrase of ")) << probe.shown();
        ASSERT_TRUE(wait_until([&] { return !probe.echoes(); }));
        probe.type(answer);
        EXPECT_NE(probe.end(), -1) << probe.shown();
        EXPECT_TRUE(probe.echoes());
        EXPECT_EQ(probe.shown().find("sesame"), std::string::npos);
        EXPECT_EQ(probe.shown().find("glibc") != std::string::npos, *answer != '\x03') << probe.shown();
    }
}

} // namespace
} // namespace fourfold::test
