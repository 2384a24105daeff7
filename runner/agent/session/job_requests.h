// SPDX-License-Identifier: GPL-3.0-or-later
// A session's requests about a Slurm job: submit it, ask for its attempts.
#pragma once

#include "runner/agent/session/node_base.h"
#include "runner/agent/session/wire.h"

namespace fourfold {

class JobRequests {
public:
    JobRequests(Wire& wire, const NodeBase& node)
        : wire_(wire)
        , node_(node)
    {
    }
    // {"specs": one per node, "token", "script"}: the run folder with everything that the job needs; the answer is the
    // job's number. Idempotent by the run's id: a run that was submitted is not submitted again.
    Expected<void> submit(const Json& request) const;
    Expected<void> attempts(const Json& request) const;

private:
    Wire& wire_;
    const NodeBase& node_;
};

} // namespace fourfold
