// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

namespace fourfold {

void open_standard_streams()
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
            continue;
        // The lowest free number is taken, which is `fd`. Not closed for children, as theirs would be free again. The
        // root folder stands in where there is no /dev.
        if (open("/dev/null", O_RDONLY) < 0 && open("/", O_RDONLY | O_DIRECTORY) < 0)
            _exit(1);
    }
}

void begin_program()
{
    open_standard_streams();
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    // Whoever started this program may ignore the ends of children, or block signals on the thread that started it:
    // then no end of a rank would be seen here, and no Ctrl-C.
    std::signal(SIGCHLD, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

int status_after_output(int status, const char* program)
{
    const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (written || status != 0)
        return status;
    std::fprintf(
        stderr, "%s: standard output: cannot write the answer (is the disk full or the reader gone?)\n", program);
    return 1;
}

} // namespace fourfold
