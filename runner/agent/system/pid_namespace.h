// SPDX-License-Identifier: GPL-3.0-or-later
// Where the kernel allows it, everything that this process starts from now on lives in a process namespace of its own:
// the kernel itself ends all of it, daemons too, together with the namespace's first process, and that one with this
// process. Elsewhere nothing changes.
#pragma once

#include <sys/types.h>

#include <optional>

namespace fourfold {

class PidNamespace {
public:
    // Nothing where it is not allowed (it needs CAP_SYS_ADMIN). This process itself stays outside and sees everything.
    static std::optional<PidNamespace> enter();

    [[nodiscard]] pid_t first() const { return first_; } // its first process, our child, which only waits
    // Ends everything inside.
    void end() const;

private:
    explicit PidNamespace(pid_t first)
        : first_(first)
    {
    }
    pid_t first_;
};

} // namespace fourfold
