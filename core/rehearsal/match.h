// SPDX-License-Identifier: GPL-3.0-or-later
// Whether ranks that run these programs under NCCL's rules all come to their end.
//
// The rules: a communicator runs its operations one after the other, in the order of the calls; messages between two
// ranks match in order, there are no tags; an operation ends only when all members (a message: both sides) have begun
// it; members that meet must agree on kind, element type, number of elements and reduction; operations of different
// communicators share the device.
//
// No receive names "anybody", so what meets what depends on no clock: if one run in which nothing is ever buffered
// comes to its end, every run does, whichever rank is slow. (Without wildcard receives a message-passing program is
// deterministic: Kahn 1974, "The semantics of a simple language for parallel programming".) That run is made here.
// Where the device has fewer places than operations wait, this holds with one queue: what begins first is then what was
// asked for first, not what happened to be ready.
#pragma once

#include "core/base/expected.h"
#include "core/rehearsal/rank_program.h"

#include <vector>

namespace fourfold {

// What the communicators of one rank share.
struct DeviceRules {
    int at_once = 8; // operations that may have begun and wait for their peers at the same time
    bool one_queue
        = false; // CUDA_DEVICE_MAX_CONNECTIONS=1: what cannot begin yet holds up all that was asked for later
};

// When what happens, where every rank works as long as its program says and operations take the time that they have.
struct Matched {
    struct Span {
        double begin_s = 0, end_s = 0;
    };
    struct Rank {
        std::vector<double> at_s; // beside RankProgram::steps: when the rank has done it
        std::vector<Span> operations; // beside RankProgram::operations: from when the device takes it up
        double end_s = 0;
    };
    std::vector<Rank> ranks; // beside the programs
};

// Ranks that have no program here are taken to do what the others of their groups ask of them, at once. A Problem
// (failed) names the rank, its place in the mesh, the pass, the operation, and who waits for whom. Times do not take
// into account that operations of different communicators share the device.
Expected<Matched> match_programs(const std::vector<RankProgram>& programs, const DeviceRules& rules);

double seconds_at(const Matched::Rank& rank, const Moment& moment);

} // namespace fourfold
