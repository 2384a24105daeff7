// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/runs/stop_signals.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <stdexcept>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace fourfold::cli {

namespace {

// A handler (rather than a blocked signal) because programs that this one starts inherit a blocked signal but not a
// handler. Stop callbacks may lock and allocate, so the handler only wakes a thread.
int wake[2] = {-1, -1};
std::atomic<int> asked = -1; // an eventfd

void on_signal(int signal)
{
    const int saved = errno;
    const char byte = static_cast<char>(signal);
    [[maybe_unused]] const auto written = ::write(wake[1], &byte, 1);
    errno = saved;
}

void handle(void (*handler)(int))
{
    struct sigaction action { };
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

} // namespace

StopSignals::StopSignals(std::string first)
{
    asked = ::eventfd(0, EFD_CLOEXEC);
    if (asked < 0 || ::pipe2(wake, O_CLOEXEC) != 0)
        throw std::runtime_error("cannot wait for signals: too many open files");
    thread_ = std::thread([this, first = std::move(first)] { wait(first); });
    handle(on_signal);
}

StopSignals::~StopSignals()
{
    handle(SIG_DFL);
    const char end = 0;
    [[maybe_unused]] const auto written = ::write(wake[1], &end, 1);
    thread_.join();
    ::close(wake[0]);
    ::close(wake[1]);
    ::close(asked.exchange(-1));
}

int StopSignals::descriptor()
{
    return asked;
}

void StopSignals::wait(const std::string& first)
{
    char signal = 0;
    for (int count = 1; ::read(wake[0], &signal, 1) == 1 && signal != 0; ++count) {
        if (count == 1) {
            std::fprintf(stderr, "fourfold: %s\n", first.c_str());
            source_.request_stop();
            (void)::eventfd_write(asked, 1);
        } else if (count == 2) {
            std::fprintf(
                stderr, "fourfold: still at it; once more ends this program and leaves the rest to the nodes\n");
        } else {
            handle(SIG_DFL);
            std::raise(signal);
        }
    }
}

} // namespace fourfold::cli
