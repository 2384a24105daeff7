// SPDX-License-Identifier: GPL-3.0-or-later
// All-gathers and reduce-scatters along the first dimension, cut into pieces that are under way while what does not
// depend on them is computed: Wang et al. 2023, "Overlap Communication with Dependent Computation via Decomposition in
// Large Deep Learning Models" (ASPLOS 2023), section 3.
#pragma once

#include "runner/trainer/comm/communicator.h"

#include <deque>
#include <functional>

namespace fourfold::trainer {

// Which rows of a whole tensor [size() * n, ...], of which each rank of the group has n: `rows` from `begin` on of each
// of `ranks` ranks. What is computed of a piece is few large products, not one for every rank's share of it.
struct RowsOfRanks {
    int64_t rank = 0, ranks = 1; // the first of them, and how many
    int64_t n = 0, begin = 0, rows = 0;
    // A view of a tensor as long as the whole one: [ranks, rows, ...].
    [[nodiscard]] at::Tensor of(const at::Tensor& whole) const;
};
// `rows`: [ranks * rows, ...], without gaps.
using UseRows = std::function<void(const RowsOfRanks& which, const at::Tensor& rows)>;

// The whole tensor of which each rank has the n rows `own`. Calls `use` for parts that cover it: own rows first,
// others' as they come. `meanwhile`, where it is given, runs before the first of those is waited for. Same bytes as one
// all-gather.
at::Tensor gather_in_pieces(
    const at::Tensor& own, const Communicator& group, const UseRows& use, const std::function<void()>& meanwhile = {});

// A sum over the ranks of which each gets its rows.
class ScatterInPieces {
public:
    // `shape`: of the whole tensor, [size() * n, ...]. Calls `make` for parts that cover it, to fill in this rank's
    // summand; sums of earlier parts are under way then. Same bytes as one reduce-scatter. `cut`: false: into one part.
    ScatterInPieces(std::vector<int64_t> shape, const at::TensorOptions& options, const Communicator& group,
        const UseRows& make, bool cut = true);
    // This rank's n rows of the sum, when the last piece has come. Precondition: called once.
    at::Tensor finish();

private:
    struct Piece {
        at::Tensor summand; // lives until its sum is through
        Handle handle;
    };

    at::Tensor sum_;
    std::deque<Piece> under_way_;
};

} // namespace fourfold::trainer
