// SPDX-License-Identifier: GPL-3.0-or-later
// What one rank asks of the network, in the order in which it asks and waits: enough to prove that no rank waits for
// ever, nothing of what is computed in between.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fourfold {

// One side of a message between two members of a group.
struct WireMessage {
    bool sends = false;
    int peer = 0; // global rank
    int64_t elements = 0;
};

struct WireOperation {
    int wire = 0; // of RankProgram::wires
    std::string kind; // "all_reduce", "all_gather", "reduce_scatter"; "send_receive": point to point, see `messages`
    std::string type; // of the elements: "BFloat16"
    int64_t elements = 0; // of a collective: of the larger of its two sides, the same on all members
    std::string reduction; // "sum", "max"; empty where nothing is reduced
    std::vector<WireMessage> messages; // of one call: they end together
};

// A communicator, as one of its members knows it.
struct Wire {
    std::string name; // the same on all members, and no other group's
    std::vector<int> members; // global ranks
};

struct RankProgram {
    int rank = 0;
    std::string place; // in words: "tp 0, cp 0, pp 1, dp 0"
    std::vector<Wire> wires;
    std::vector<WireOperation> operations; // in the order in which they are asked for
    // n: operation n is asked for; ~n: the rank goes on only when operation n has ended.
    std::vector<int> steps;
};

} // namespace fourfold
