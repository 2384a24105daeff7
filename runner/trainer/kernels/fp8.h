// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers of 8 bits (Micikevicius et al. 2022, arXiv:2209.05433) with a scale that some of them share.
#pragma once

#include "runner/trainer/kernels/elements.h"
#include "runner/trainer/kernels/operations.h"

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

namespace fourfold::trainer {

// What shares a scale in a matrix [rows, columns]; 0: all of them.
struct ScaleBlock {
    int64_t rows = 0, columns = 0;
};

struct Quantized {
    at::Tensor values; // e4m3 or e5m2, [rows, columns]
    at::Tensor inverse_scales; // by what values are multiplied: [rows / block.rows, columns / block.columns]
};

// Rounds a matrix of fp32, fp64, bf16 or fp16 to `type` (at::kFloat8_e4m3fn, at::kFloat8_e5m2), to nearest even, what
// is too large to the largest number. Scales are in fp32, in fp64 for an fp64 matrix. A last block may be smaller.
// `largest`: as largest_of_blocks() gives it, of whatever shares the scale.
Quantized quantize(const at::Tensor& matrix, at::ScalarType type, const ScaleBlock& block, ScaleKind kind,
    const at::Tensor& largest, Kernels kernels = Kernels::fused);

// Blocks down and across: rows / block.rows, columns / block.columns, rounded up.
std::array<int64_t, 2> blocks_of(const at::Tensor& matrix, const ScaleBlock& block);
// Largest magnitude of each block, [blocks down, across], in fp32 (fp64).
at::Tensor largest_of_blocks(const at::Tensor& matrix, const ScaleBlock& block, Kernels kernels = Kernels::fused);
// The same into zeros of that shape and type, which may lie in a larger tensor.
void largest_of_blocks_into(
    const at::Tensor& zeros, const at::Tensor& matrix, const ScaleBlock& block, Kernels kernels = Kernels::fused);

// Of ScaleKind::exact: by what values are multiplied whose largest magnitude is `largest`.
at::Tensor inverse_scale(const at::Tensor& largest, at::ScalarType type);

// Its values again, in `exact`.
at::Tensor dequantize(const Quantized& quantized, const ScaleBlock& block, at::ScalarType exact);

} // namespace fourfold::trainer
