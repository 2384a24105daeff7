// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/runs/terminal.h"

#include "app/cli/runs/stop_signals.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <iostream>

namespace fourfold::cli {

namespace {

std::optional<std::string> read_line()
{
    std::string line;
    for (;;) {
        // std::getline would go on waiting after a signal.
        std::array<pollfd, 2> wait{{{STDIN_FILENO, POLLIN, 0}, {StopSignals::descriptor(), POLLIN, 0}}};
        if (::poll(wait.data(), wait.size(), -1) < 0 && errno != EINTR)
            return {};
        if (wait[1].revents != 0)
            return {};
        if (wait[0].revents == 0)
            continue;
        char c = 0;
        const ssize_t got = ::read(STDIN_FILENO, &c, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return line.empty() ? std::nullopt : std::optional(line);
        if (c == '\n')
            return line;
        line += c;
    }
}

} // namespace

bool has_terminal()
{
    return ::isatty(STDIN_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0;
}

std::optional<std::string> ask(const std::string& prompt, bool hidden)
{
    std::cerr << prompt << std::flush;
    termios before{};
    const bool hide = hidden && ::tcgetattr(STDIN_FILENO, &before) == 0;
    if (hide) {
        termios quiet = before;
        quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
    }
    auto answer = read_line();
    if (hide)
        ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    if (hide || !answer)
        std::cerr << '\n';
    return answer;
}

} // namespace fourfold::cli
