// SPDX-License-Identifier: GPL-3.0-or-later
// The thread that moves Gloo's messages. It waits with epoll_wait() and only tries the lock of a connection; a rank's
// own thread has that lock while it writes to the socket. Where both have one core, the own thread loses it to Gloo's
// with the lock in its hand as soon as something arrives: Gloo's asks again and again, a million times a second, until
// the kernel's next tick. So this program has an epoll_wait() of its own, which gives up the core where a thread comes
// back at once several times in a row.
#pragma once

#include <cstdint>

namespace fourfold::trainer {

// How often a thread of this process has given up its core in epoll_wait(). Whoever needs a Gloo transport calls it,
// which is what links the function into the program.
uint64_t given_up_cores();

} // namespace fourfold::trainer
