// SPDX-License-Identifier: GPL-3.0-or-later
// The borders of a tensor-parallel region, with gradients. Shoeybi et al. 2019 (arXiv:1909.08053), section 3, operators
// f and g; with sequence parallelism Korthikanti et al. 2022 (arXiv:2205.05198), figure 5, operators g and g-bar.
//
// Outside, the residual stream is [s, b, h]: with sequence parallelism each rank holds its seq_len / tp rows, without
// it all ranks hold all rows. Inside, every rank sees all rows and computes its part of the features.
#pragma once

#include "runner/trainer/comm/communicator.h"
#include "runner/trainer/pipeline_parallel/pass_turns.h"

namespace fourfold::trainer {

// Into a region, before a column-parallel linear: all-gather along the sequence (backward: reduce-scatter), or identity
// (backward: all-reduce). `turns`: of passes of which the other goes on while sequence parallelism's message is under
// way; null: none does. It and `tp` must outlive the backward pass.
at::Tensor enter_region(
    const at::Tensor& x, const Communicator& tp, bool sequence_parallel, PassTurns* turns = nullptr);
// Out of a region, after a row-parallel linear: reduce-scatter (backward: all-gather), or all-reduce (backward:
// identity).
at::Tensor leave_region(
    const at::Tensor& x, const Communicator& tp, bool sequence_parallel, PassTurns* turns = nullptr);

} // namespace fourfold::trainer
