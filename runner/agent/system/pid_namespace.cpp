// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/system/pid_namespace.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fourfold {

namespace {

// Reaps what its processes leave behind, as the first process of a namespace must. `alive` ends with the parent.
[[noreturn]] void wait_for_ever(int alive)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char c = 0;
    if (read(alive, &c, 1) != 1) // the parent was gone before the line above
        _exit(1);
    for (const int fd : {0, 1, 2})
        close(fd);
    closefrom(3);
    signal(SIGCHLD, SIG_IGN); // the kernel reaps
    sigset_t none;
    sigemptyset(&none);
    for (;;)
        sigsuspend(&none); // signals from inside do not reach a first process that has no handler for them
}

} // namespace

std::optional<PidNamespace> PidNamespace::enter()
{
    int ends[2];
    if (pipe(ends) != 0)
        return {};
    if (unshare(CLONE_NEWPID) != 0) {
        close(ends[0]);
        close(ends[1]);
        return {};
    }
    const pid_t first = fork();
    if (first == 0) {
        close(ends[1]);
        wait_for_ever(ends[0]);
    }
    (void)!write(ends[1], "a", 1);
    close(ends[0]);
    close(ends[1]);
    // Without a first process nothing can be started any more; the ranks' start will say so.
    return PidNamespace(first);
}

void PidNamespace::end() const
{
    if (first_ > 0)
        kill(first_, SIGKILL); // our child, not yet reaped
}

} // namespace fourfold
