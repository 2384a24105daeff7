// SPDX-License-Identifier: GPL-3.0-or-later
// What the nodes of a run said about failures and their end: which of it is the cause.
#pragma once

#include "runner/runs/recorder.h"

#include <optional>
#include <vector>

namespace fourfold {

class Causes {
public:
    // Begins with what is stored already.
    Causes(const Recorder& recorder, std::size_t nodes);

    // Keeps an `error` or `end` event of a node; others are nothing to it.
    void remember(std::size_t node, const Json& event);
    // The node's `end` event, null before it.
    [[nodiscard]] const Json& end(std::size_t node) const { return ends_[node]; }
    // The error event of the rank that the node's agent names as the culprit, else its first one, else null.
    [[nodiscard]] Json of(std::size_t node, int rank) const;
    // A node whose ranks only heard of a failure (`error`) may have been the first to say so: then where a rank of any
    // node says that it began with itself.
    [[nodiscard]] std::optional<Json> better(const Json& error) const;

private:
    std::vector<std::vector<Json>> errors_; // of each node
    std::vector<Json> ends_;
};

} // namespace fourfold
