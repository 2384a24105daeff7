// SPDX-License-Identifier: GPL-3.0-or-later
// What a node knows about the end of one of its ranks that the rank could not say: no memory, no room on the disk.
#pragma once

#include "runner/agent/supervision/culprit.h"

#include <filesystem>

namespace fourfold {

class NodeCauses {
public:
    // Before the ranks are started: what the node suffered earlier is not their cause. `folder`: of the run.
    explicit NodeCauses(std::filesystem::path folder);

    // Completes the message and the kind. `log`: what the rank has printed.
    void explain(Culprit& culprit, const std::filesystem::path& log) const;
    [[nodiscard]] bool is_full() const; // the disk that the run folder is on

private:
    std::filesystem::path folder_;
    long long oom_kills_before_ = -1;
};

} // namespace fourfold
