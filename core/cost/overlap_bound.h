// SPDX-License-Identifier: GPL-3.0-or-later
// When does computing hide communicating? The lecture's condition in general form.
#pragma once

#include <optional>

namespace fourfold {

// Kempner Institute, CS 2281, lecture 8: gathering a message of n elements over p ranks takes alpha log p + n / beta
// and computing with it B n (compute per parameter) / C; the transfer hides when
//     alpha log p <= (B * compute_per_param / C - 1 / beta) n.
// The same with one more term, for messages that grow with the batch themselves (activations instead of parameters):
//     latency_s + transfer_s <= B (compute_s_per_sequence - transfer_s_per_sequence).
// Seconds of one pass of one unit (a layer, a stage) on one rank; B = sequences of a micro-batch.
struct OverlapBound {
    double latency_s = 0; // alpha log2 p, all collectives of the pass
    double transfer_s = 0; // whatever the batch: parameters
    double transfer_s_per_sequence = 0; // activations
    double compute_s_per_sequence = 0;

    [[nodiscard]] double compute_s(double batch) const { return batch * compute_s_per_sequence; }
    [[nodiscard]] double communication_s(double batch) const
    {
        return latency_s + transfer_s + batch * transfer_s_per_sequence;
    }
    [[nodiscard]] bool compute_bound(double batch) const { return communication_s(batch) <= compute_s(batch); }
    // The smallest B (a real number; below 1 = any batch) that is compute-bound; empty when none is, because the
    // messages grow faster than the work.
    [[nodiscard]] std::optional<double> least_batch() const;
};

} // namespace fourfold
