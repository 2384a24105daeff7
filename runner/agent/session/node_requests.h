// SPDX-License-Identifier: GPL-3.0-or-later
// A session's requests about its node before a run: what stands in its way, how the nodes reach each other, what may be
// cleared away.
#pragma once

#include "runner/agent/session/node_base.h"
#include "runner/agent/session/wire.h"
#include "runner/agent/system/server_process.h"

#include <memory>

namespace fourfold {

class NodeRequests {
public:
    NodeRequests(Wire& wire, const NodeBase& node)
        : wire_(wire)
        , node_(node)
    {
    }
    Expected<void> probe(const Json& request) const;
    Expected<void> clock() const;
    Expected<void> clear(const Json& request) const;
    Expected<void> reach(const Json& request) const;
    Expected<void> listen(const Json& request);
    Expected<void> unlisten();
    // Nothing is probed any more.
    void end() { probe_server_.reset(); }

private:
    Wire& wire_;
    const NodeBase& node_;
    std::unique_ptr<ServerProcess> probe_server_;
};

} // namespace fourfold
