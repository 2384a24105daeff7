// SPDX-License-Identifier: GPL-3.0-or-later
// Whether, and when, a host is tried again: one rule for everything that goes on after a cut.
#pragma once

#include "core/base/problem.h"

#include <chrono>
#include <limits>
#include <optional>
#include <string>

namespace fourfold {

// The attempts in a row that did not reach one host.
class Reconnect {
public:
    // A network that does not answer is tried for `limit_s`.
    explicit Reconnect(double limit_s = std::numeric_limits<double>::infinity())
        : limit_(limit_s)
    {
    }

    // After a failed attempt: how long to wait before the next one; nothing when no further one will help. What may
    // pass (network) is tried until the limit. A host that is just starting may refuse a login, or lack a file system
    // (refused, io, failed): that is tried for 20 s. The rest stays as it is: a changed host key, a file or a name that
    // does not exist.
    std::optional<std::chrono::milliseconds> wait_after(const Problem& problem);
    // True when the problem is not the one before it.
    bool is_news(const Problem& problem);
    // Something came from the host.
    void reached();

private:
    using Clock = std::chrono::steady_clock;

    std::chrono::duration<double> limit_;
    std::optional<Clock::time_point> since_; // of the first attempt that failed
    std::chrono::milliseconds wait_{0}; // before the last attempt
    std::string said_;
};

} // namespace fourfold
