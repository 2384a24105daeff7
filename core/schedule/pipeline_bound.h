// SPDX-License-Identifier: GPL-3.0-or-later
// How long a pipeline takes at least, whatever its schedule: for schedules without a formula, of which a search
// simulates only those that could matter.
#pragma once

#include <span>
#include <vector>

namespace fourfold {

// Neighbouring stages that do the same, in seconds of one micro-batch, receiving included.
struct BoundRun {
    int stages = 1;
    double busy_s = 0; // all of its passes
    double forward_s = 0, backward_s = 0; // of its first chunk
};

// When some stage of each run ends its last action, at the earliest: a stage does all of its work after the first
// micro-batch has come to it through the first chunks of the stages before. Where the last micro-batch leaves through
// the same chunks (1F1B, interleaved), stages before it end no sooner than that takes. Equal to the simulation for
// equal chunks, 1F1B and interleaved.
void bound_ends(std::span<const BoundRun> runs, int micro_batches, bool leaves_as_it_came, std::vector<double>& ends);

} // namespace fourfold
