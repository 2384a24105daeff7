// SPDX-License-Identifier: GPL-3.0-or-later
// A session's requests about runs: which there are, prepare, start, follow, stop, fetch a log.
#pragma once

#include "runner/agent/ranks/prelude.h"
#include "runner/agent/session/node_base.h"
#include "runner/agent/session/wire.h"

#include <functional>
#include <memory>

namespace fourfold {

class RunTail;

class RunRequests {
public:
    RunRequests(Wire& wire, const NodeBase& node)
        : wire_(wire)
        , node_(node)
    {
    }
    // For a client that has never seen a run: which runs are on this node, and what one of them is.
    Expected<void> find(const Json& request) const;
    Expected<void> prepare(const Json& request);
    Expected<void> start(const Json& request);
    Expected<void> tail(const Json& request);
    // `meanwhile` is called while it takes long.
    Expected<void> stop(const Json& request, const std::function<void()>& meanwhile);
    Expected<void> status(const Json& request) const;
    Expected<void> kept(const Json& request) const;
    Expected<void> sweep_run(const Json& request) const;
    Expected<void> fetch(const Json& request) const;

private:
    struct Prepared {
        RunFolder folder;
        RunSpec spec;
        FileDescriptor lock, listener; // the rendezvous, of the first node
        Prelude prelude;
    };
    // While events are followed: stop, ping, diagnose.
    Expected<void> aside(const Json& request, RunTail& tail);
    // Says what was done beyond telling the agent, in words.
    Expected<std::string> stop_share(const RunFolder& folder, const std::string& run, int node, const StopRequest& stop,
        const std::function<void()>& meanwhile);

    Wire& wire_;
    const NodeBase& node_;
    std::unique_ptr<Prepared> prepared_;
};

} // namespace fourfold
