// SPDX-License-Identifier: GPL-3.0-or-later
// The signals of a program that has a terminal: those that end it in order, those that end it at once with the terminal
// as it was, and Ctrl+Z.
#pragma once

#include <atomic>
#include <csignal>
#include <cstddef>
#include <termios.h>

namespace fourfold::tui {

// What their handlers may touch.
struct SignalsHeld {
    int pipe[2] = {-1, -1}; // bytes for the loop: r resized, z stop, c continued, e ending, w woken
    termios found{}; // the terminal's modes before
    char restore[256] = {}; // what leaves the terminal as it was
    std::size_t restore_size = 0;
    // A handler runs on whichever thread the signal meets: atomic, not only of the type that signals ask for.
    std::atomic<bool> ending{false}; // SIGTERM, SIGHUP or SIGINT came, or the terminal is gone
    std::atomic<bool> entered{false}; // the terminal is ours now
    std::atomic<bool> writing{false}; // to the terminal, which may not read
    static_assert(std::atomic<bool>::is_always_lock_free);
};
extern SignalsHeld signals_held;

void handle_signals();
void forget_signals();
void tell_loop(char what); // of the pipe's bytes; from any thread and from handlers
void stop_job(); // as Ctrl+Z does at any other program; returns when it is continued
void drop_unread(); // what was written to the terminal and not read: a write that waits for its reader goes on

} // namespace fourfold::tui
