// SPDX-License-Identifier: GPL-3.0-or-later
// What one rank asks of the network, in the order in which it asks and waits, and how long it works in between: enough
// to prove that no rank waits for ever and to say when what happens.
#pragma once

#include "core/schedule/actions.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

// One side of a message between two members of a group.
struct WireMessage {
    bool sends = false;
    int peer = 0; // global rank
    int64_t elements = 0;
    int tag = 0; // NCCL has none: both sides must mean the same message all the same
    bool operator==(const WireMessage&) const = default;
};

struct WireOperation {
    int wire = 0; // of RankProgram::wires
    std::string kind; // "all_reduce", "all_gather", "reduce_scatter"; "send_receive": point to point, see `messages`
    std::string type = {}; // of the elements: "BFloat16"
    int64_t elements = 0; // of a collective: of the larger of its two sides, the same on all members
    std::string reduction = {}; // "sum", "max"; empty where nothing is reduced
    std::vector<WireMessage> messages = {}; // of one call: they end together
    int64_t bytes = 0; // payload: of a collective's larger side, of messages what this rank sends
    std::optional<int64_t> own_bytes = {}; // messages that are one all-to-all: what of its payload this rank keeps
    double seconds = 0; // that it takes once every member is there
    int pass = -1; // of RankProgram::passes, in which it is asked for; -1: outside of them
    bool operator==(const WireOperation&) const = default;
};

// A communicator, as one of its members knows it; or, of one member, one way of the link between its device and its
// host.
struct Wire {
    std::string name; // the same on all members, and no other group's
    std::vector<int> members; // global ranks
};

// After so many steps of the program, and so many seconds of the rank's own work after the last of them.
struct Moment {
    std::size_t steps = 0;
    double work_s = 0;
    bool operator==(const Moment&) const = default;
};
struct RankPass {
    Action action;
    Moment begin, end;
    bool operator==(const RankPass&) const = default;
};

struct RankProgram {
    int rank = 0;
    std::string place; // in words: "tp 0, cp 0, pp 1, dp 0"
    std::vector<Wire> wires;
    std::vector<WireOperation> operations; // in the order in which they are asked for
    // n: operation n is asked for; ~n: the rank goes on only when operation n has ended.
    std::vector<int> steps;
    std::vector<double> work_s; // of the rank itself, before each step; shorter than `steps`: no work before the rest
    double last_work_s = 0; // after the last step
    std::vector<RankPass> passes; // in order
};

// Is it a copy between the memories of the rank's device and its host? It waits for no other rank, and takes no place
// among the operations of communicators.
inline bool is_own_copy(const RankProgram& program, const WireOperation& asked)
{
    return program.wires[std::size_t(asked.wire)].members.size() == 1;
}

} // namespace fourfold
