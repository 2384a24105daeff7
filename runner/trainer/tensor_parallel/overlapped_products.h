// SPDX-License-Identifier: GPL-3.0-or-later
// Sequence parallelism: products whose inputs are gathered, or whose outputs are scattered, along the sequence. What is
// gathered is gathered again for the weight gradients, while the input's gradient is computed (arXiv:2205.05198,
// section 4.2.2). Asynchronous tensor parallelism: piece by piece while other pieces are multiplied (pieces.h), forward
// and backward; what that does not hide, behind a pass over another micro-batch where there is one.
#pragma once

#include "runner/trainer/comm/communicator.h"
#include "runner/trainer/model/linear.h"
#include "runner/trainer/pipeline_parallel/pass_turns.h"

namespace fourfold::trainer {

struct GatheredRows {
    bool in_pieces = false;
    bool kept = false; // until the backward pass, instead of gathered again
    PassTurns* turns = nullptr; // of passes that go on where pieces are waited for; null: none does

    // Whether the message that is asked for next goes in pieces: products of few rows are slower, and where another
    // pass goes on they need not hide anything.
    [[nodiscard]] bool are_cut() const { return in_pieces && (turns == nullptr || !turns->has_other()); }
    void give_turn() const
    {
        if (turns != nullptr)
            turns->give();
    }
};

// As RegionProducts::enter() and leave() with sequence parallelism. `tp`, `later` and `fp8`, which may be null, and
// turns must outlive the graph.
std::vector<at::Tensor> gathered_products(const at::Tensor& x, const std::vector<Affine>& layers,
    const Communicator& tp, WeightGradients& later, const Fp8Products* fp8, GatheredRows rows);
// In pieces.
at::Tensor scattered_product(const at::Tensor& x, const at::Tensor& weight, const Communicator& tp,
    WeightGradients& later, const Fp8Products* fp8, GatheredRows rows);

} // namespace fourfold::trainer
