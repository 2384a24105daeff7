// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/terminal/signals.h"

#include <array>
#include <cerrno>
#include <unistd.h>

namespace fourfold::tui {

SignalsHeld signals_held;

namespace {
constexpr std::array kEnding{SIGTERM, SIGHUP, SIGINT};
// Those that end a program which knows nothing of them; SIGPIPE and SIGXFSZ are left out from the start.
constexpr std::array kFatal{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT, SIGTRAP, SIGSYS, SIGUSR1, SIGUSR2,
    SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT, SIGXCPU};

void on_signal(int number)
{
    if (number == SIGWINCH) {
        tell_loop('r');
    } else if (number == SIGTSTP) {
        tell_loop('z');
    } else if (number == SIGCONT) {
        tell_loop('c');
    } else {
        signals_held.ending = true;
        if (signals_held.writing)
            drop_unread(); // curses would go on waiting for a reader
        tell_loop('e');
    }
}

// The program is lost, the terminal is not.
void on_fatal(int number)
{
    if (signals_held.entered) {
        [[maybe_unused]] const ssize_t written
            = ::write(STDOUT_FILENO, signals_held.restore, signals_held.restore_size);
        ::tcsetattr(STDIN_FILENO, TCSANOW, &signals_held.found);
    }
    ::signal(number, SIG_DFL);
    ::raise(number);
}

void handle(int number, void (*handler)(int))
{
    struct sigaction action { };
    action.sa_handler = handler;
    ::sigaction(number, &action, nullptr);
}
} // namespace

void tell_loop(char what)
{
    const int before = errno;
    [[maybe_unused]] const ssize_t written = ::write(signals_held.pipe[1], &what, 1); // full: it will wake anyhow
    errno = before;
}

void drop_unread()
{
    const int before = errno;
    ::tcflush(STDOUT_FILENO, TCOFLUSH);
    errno = before;
}

void handle_signals()
{
    for (const int number : kEnding)
        handle(number, on_signal);
    for (const int number : {SIGWINCH, SIGTSTP, SIGCONT})
        handle(number, on_signal);
    for (const int number : kFatal) {
        struct sigaction now { };
        if (::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) // what is left out stays left out
            handle(number, on_fatal);
    }
}

void forget_signals()
{
    for (const int number : kEnding)
        ::signal(number, SIG_DFL);
    for (const int number : {SIGWINCH, SIGTSTP, SIGCONT})
        ::signal(number, SIG_DFL);
    for (const int number : kFatal) {
        struct sigaction now { };
        if (::sigaction(number, nullptr, &now) == 0 && now.sa_handler == on_fatal)
            ::signal(number, SIG_DFL);
    }
}

void stop_job()
{
    ::signal(SIGTSTP, SIG_DFL);
    ::signal(SIGCONT, SIG_DFL);
    ::kill(0, SIGTSTP); // the whole job, as the terminal would
    handle(SIGTSTP, on_signal);
    handle(SIGCONT, on_signal);
}

} // namespace fourfold::tui
