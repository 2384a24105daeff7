// SPDX-License-Identifier: GPL-3.0-or-later
// Files that a node lacks: which they are, and how they arrive, from the client or from the node before this one in a
// chain, and on to the next one.
#pragma once

#include "runner/agent/files/chain.h"
#include "runner/agent/files/installed_files.h"
#include "runner/agent/session/node_base.h"
#include "runner/agent/session/wire.h"

#include <memory>
#include <optional>

namespace fourfold {

class Uploads {
public:
    Uploads(Wire& wire, const NodeBase& node)
        : wire_(wire)
        , node_(node)
    {
    }
    // For the node before this one: everything goes on to `next`.
    Uploads(Wire& wire, const NodeBase& node, std::optional<Downstream> next)
        : wire_(wire)
        , node_(node)
        , next_(std::move(next))
        , for_chain_(true)
    {
    }

    Expected<void> have(const Json& request);
    Expected<void> put(const Json& request);
    Expected<void> chain(const Json& request);
    Expected<void> relay(const Json& request);
    // Nothing is sent from node to node any more.
    void end();

private:
    Wire& wire_;
    const NodeBase& node_;
    InstalledFiles installed_;
    std::unique_ptr<ServerProcess> relay_;
    std::optional<Downstream> next_; // node of the chain
    bool for_chain_ = false;
};

// A session of the node before this one in a chain: takes files into the store of `base`, hands them on to `next`, and
// does nothing else.
void take_files(int in, int out, const std::filesystem::path& base, const GroupFolders& group_writable,
    const std::optional<ChainLink>& next);

} // namespace fourfold
