// SPDX-License-Identifier: GPL-3.0-or-later
// What can go wrong for a user, as a value.
#pragma once

#include <string>

namespace fourfold {

enum class ProblemCode {
    bad_input, // malformed file, wrong value, unknown key where one is needed
    not_found, // a preset, file, run or host name that does not exist
    unsupported, // understood, but this build, version or hardware cannot do it
    io, // disk, permissions, no space
    network, // unreachable, cut, timed out
    refused, // host key unknown, authentication failed, somebody else holds the lock
    cancelled, // the user said stop
    conflict, // it contradicts what is stored (a changed host key, a gap in a stream, an id that exists)
    failed, // the work itself failed (a rank died, out of memory, ...)
};

// One thing that went wrong. `message` says what is wrong and what was expected; `where` says where (file, field,
// host, rank); `hint` says what to do. All three are single lines of plain text; `hint` and `where` may be empty.
struct Problem {
    ProblemCode code = ProblemCode::failed;
    std::string message;
    std::string hint;
    std::string where;

    // "where: message (hint)" on one line, as printable() shows it (core/base/text.h).
    [[nodiscard]] std::string line() const;
    // The command's exit status: 2 for unusable input (bad_input, not_found, unsupported), 1 for everything else.
    [[nodiscard]] int exit_status() const;
};

} // namespace fourfold
