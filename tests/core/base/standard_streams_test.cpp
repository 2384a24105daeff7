// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/standard_streams.h"

#include <gtest/gtest.h>

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

namespace fourfold {
namespace {

// Whoever ignores the ends of children, or blocks signals, hands that on: no end of a rank would be seen, no Ctrl-C.
TEST(BeginProgram, UndoesWhatItsParentHandedOn)
{
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        std::signal(SIGCHLD, SIG_IGN);
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, nullptr);
        begin_program();
        sigset_t blocked;
        sigprocmask(SIG_SETMASK, nullptr, &blocked);
        struct sigaction ends { };
        sigaction(SIGCHLD, nullptr, &ends);
        _exit(ends.sa_handler == SIG_DFL && sigismember(&blocked, SIGINT) == 0 && sigismember(&blocked, SIGCHLD) == 0
                ? 0
                : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

} // namespace
} // namespace fourfold
