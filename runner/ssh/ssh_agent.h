// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace fourfold {

// Whether the ssh-agent at this socket says within so long which keys it has. libssh would wait for one that hangs as
// long as it hangs. True also where nothing listens: that is nothing to wait for.
bool agent_answers(const std::string& socket, double seconds);

} // namespace fourfold
