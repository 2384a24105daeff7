// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of a rank under interleaved 1F1B without walking its action list.
#pragma once

#include <span>

namespace fourfold {

// Bytes of a micro-batch on one chunk: kept from its forward until its backward ends, and more while a pass runs.
struct ChunkBytes {
    double kept = 0, in_forward = 0, in_backward = 0;
    double kept_for_weights = 0; // from there to the weight gradient, where a schedule parts them
};

// The largest sum of what micro-batches keep and what runs, on rank `stage` of `pp`: what replaying the list of
// make_schedule(interleaved) gives. `chunks`: the rank's, along the model; more than one. micro_batches: a multiple of
// pp.
//
// Forwards and backwards go through the chunks in blocks of pp micro-batches, a backward w = 2 (pp - 1 - stage) +
// (v - 1) pp forwards behind. Within a block what is kept changes by the same amount at every action, so that only the
// ends of blocks are looked at; in the steady state every v blocks repeat, so that one such period is. A rank nearer to
// the start has the larger w and never keeps less.
//
// A closed form beside the walk (core/memory/walk.h), for the search, which asks for every layout: 0.03 us for 4 chunks
// of 8 ranks and 64 micro-batches, 0.4 us for 8 of 16 and 256, where the walk takes 1.1 and 18 us and making its list
// 0.5 and 1.3 ms first.
double interleaved_peak(std::span<const ChunkBytes> chunks, int stage, int pp, int micro_batches);

} // namespace fourfold
