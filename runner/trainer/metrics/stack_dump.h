// SPDX-License-Identifier: GPL-3.0-or-later
// Where this rank is, for an agent that finds that nothing moves.
#pragma once

#include <array>
#include <cerrno>
#include <string>

#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

namespace fourfold::trainer {

// From now on SIGUSR1 makes the thread that gets it append its stack to `file`. Only async-signal-safe calls are made
// in the handler.
inline void install_stack_dump(const std::string& file)
{
    static int output = -1;
    output = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (output < 0)
        return;
    // The first call loads libgcc, which must not happen in a signal handler.
    std::array<void*, 1> once{};
    ::backtrace(once.data(), 1);
    struct sigaction action { };
    action.sa_handler = [](int) {
        const int error = errno;
        std::array<void*, 64> frames{};
        const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
        ::backtrace_symbols_fd(frames.data(), count, output);
        errno = error;
    };
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGUSR1, &action, nullptr);
}

} // namespace fourfold::trainer
