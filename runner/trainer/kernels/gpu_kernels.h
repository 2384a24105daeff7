// SPDX-License-Identifier: GPL-3.0-or-later
// Kernels of our own for GPUs (launches.h) on tensors, for fp32, bf16 and fp16; arithmetic in fp32, rounded once. What
// lies in memory otherwise than a kernel takes it is copied. Tensors without values (device `meta`) are made all the
// same, and a rehearsal is told of the kernel.
#pragma once

#include "runner/trainer/kernels/fp8.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>

namespace fourfold::trainer {

// Whether the kernels below take tensors of this device and type.
bool has_gpu_kernels(const at::Tensor& x);

// x: [s, b, heads, 2 half]; cosine, sine in fp32: [s, half] or [s, b, half]. See turn() of cpu_loops.h.
at::Tensor turned_by_kernel(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine, int direction);

// See launch_normed_sum(): sum and normed as x; scale in fp32, [rows]. x, more: alike, without gaps; weight: of their
// type.
struct NormedSumAndScale {
    at::Tensor sum, normed, scale;
};
NormedSumAndScale normed_sum_by_kernel(
    const at::Tensor& x, const at::Tensor& more, const at::Tensor& weight, double eps);
// Gradients of each summand and of the weight.
std::pair<at::Tensor, at::Tensor> normed_sum_slopes_by_kernel(const at::Tensor& sum_slope, const at::Tensor& slope,
    const at::Tensor& sum, const at::Tensor& weight, const at::Tensor& scale);

// One update of Adam: gradient in fp32, bf16 or fp16, master in fp32, both moments in fp32 or bf16. [count], no gaps
void update_by_kernel(const AdamFactors<float>& factors, const at::Tensor& gradient, const at::Tensor& master,
    const at::Tensor& first, const at::Tensor& second);
// Of all elements of x, which has no gaps: an fp64 scalar.
at::Tensor squares_by_kernel(const at::Tensor& x);

// A gated activation, and the gradients of gate and up. All of one shape and type.
at::Tensor gated_by_kernel(const GateForm<float>& form, const at::Tensor& gate, const at::Tensor& up);
std::pair<at::Tensor, at::Tensor> gated_slopes_by_kernel(
    const GateForm<float>& form, const at::Tensor& slope, const at::Tensor& gate, const at::Tensor& up);

// Of each row of logits [rows, width]: the highest of its first `valid` columns, and the sum of exp(x - highest) over
// them; -inf and 0 where there are none. [rows], fp32
struct RowSums {
    at::Tensor highest, sum;
};
RowSums row_sums_by_kernel(const at::Tensor& logits, int64_t valid);
// Writes factor * (exp(x - log_sum) - 1 in the label's column) over the logits [rows, width], without exponential from
// column `valid` on. The first column has the id `first_label`; rows whose label is below 0 get zeros unless
// `all_count`. log_sum: [rows], fp32; labels: [rows], int64; factor: one number, fp32.
void write_loss_slopes(const at::Tensor& logits, int64_t valid, const at::Tensor& log_sum, const at::Tensor& labels,
    int64_t first_label, bool all_count, const at::Tensor& factor);

// As largest_of_blocks_into() and quantize() of fp8.h, for matrices of which the rows or the columns have no gaps;
// `block` without zeros. zeros, largest: fp32, one number for each block.
void largest_by_kernel(const at::Tensor& zeros, const at::Tensor& matrix, const ScaleBlock& block);
Quantized quantized_by_kernel(
    const at::Tensor& matrix, at::ScalarType type, const ScaleBlock& block, ScaleKind kind, const at::Tensor& largest);

} // namespace fourfold::trainer
