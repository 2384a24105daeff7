// SPDX-License-Identifier: GPL-3.0-or-later
// All-gathers and reduce-scatters along the first dimension, cut into pieces that are under way while what does not
// depend on them is computed: Wang et al. 2023, "Overlap Communication with Dependent Computation via Decomposition in
// Large Deep Learning Models" (ASPLOS 2023), section 3.
#pragma once

#include "runner/trainer/comm/communicator.h"

#include <deque>
#include <functional>

namespace fourfold::trainer {

// Rows [first, first + rows.size(0)) of the whole tensor, which is [size() * n, ...].
using UseRows = std::function<void(int64_t first, const at::Tensor& rows)>;

// The whole tensor of which each rank has the n rows `own`. Calls `use` for stretches that cover it: own rows first,
// others' as they come. Same bytes as one all-gather.
at::Tensor gather_in_pieces(const at::Tensor& own, const Communicator& group, const UseRows& use);

// A sum over the ranks of which each gets its rows.
class ScatterInPieces {
public:
    // `shape`: of the whole tensor, [size() * n, ...]. Calls `make` for stretches that cover it, to fill in this rank's
    // summand; sums of earlier stretches are under way then. Same bytes as one reduce-scatter.
    ScatterInPieces(
        std::vector<int64_t> shape, const at::TensorOptions& options, const Communicator& group, const UseRows& make);
    // This rank's n rows of the sum, when the last piece has come. Precondition: called once.
    at::Tensor finish();

private:
    struct Piece {
        at::Tensor summand; // lives until its sum is through
        Handle handle;
    };
    void wait_for_oldest();

    at::Tensor sum_;
    std::deque<Piece> under_way_;
};

} // namespace fourfold::trainer
