// SPDX-License-Identifier: GPL-3.0-or-later
// A network of the test program's own, whose loopback counts what only its children send.
#pragma once

#include <string>

namespace fourfold::testing {

// Moves this process into a new network namespace with its loopback up, once; children are born there. Empty, or why it
// is not possible here.
const std::string& own_network();
// Bytes that the loopback device of this process's network has sent, by the kernel's count, headers included.
double loopback_bytes();

} // namespace fourfold::testing
