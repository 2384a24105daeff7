// SPDX-License-Identifier: GPL-3.0-or-later
// Which positions of a sequence a context-parallel rank holds. Causal attention gives late positions more work than
// early ones: for ring and all-gather the sequence is cut into 2 cp chunks, and rank r takes chunk r and chunk
// 2 cp - 1 - r (Llama 3, arXiv:2407.21783, section 3.3.2). Ulysses exchanges heads, and each rank takes one of cp
// chunks.
#pragma once

#include "core/layout/training.h"
#include "runner/trainer/model/attention_rule.h"

#include <ATen/core/Tensor.h>

#include <vector>

namespace fourfold::trainer {

// The runs of positions of rank `rank` of `size`, in the order in which it holds them. Precondition: 2 * size divides
// seq_len (size alone with Ulysses), or size is 1.
Runs context_runs(int64_t seq_len, int rank, int size, CpMethod method = CpMethod::ring);

// Each of these positions.
std::vector<int64_t> context_positions(int64_t seq_len, int rank, int size, CpMethod method);

// The same part of a tensor whose dimension 0 runs over all positions. Tokens and labels are made for the whole
// sequence and cut here, so that a label is the next token also at the border of a chunk.
at::Tensor context_part(const at::Tensor& whole, int rank, int size, CpMethod method);

} // namespace fourfold::trainer
