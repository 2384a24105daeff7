// SPDX-License-Identifier: GPL-3.0-or-later
// Real sshd on nodes that are network namespaces.
#pragma once

#include "tests/cluster/netns.h"
#include "tests/runner/sshd.h"

namespace fourfold::test {

// Empty when such nodes can be had here, else why not (for GTEST_SKIP).
inline std::string why_no_ssh_cluster()
{
    const std::string why = why_no_sshd();
    return why.empty() ? why_no_namespaces() : why;
}

} // namespace fourfold::test
