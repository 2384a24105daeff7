// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/kernels/fp8.h"

#include "runner/trainer/kernels/gpu_kernels.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/exp2.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/frexp.h>
#include <ATen/ops/zeros.h>

namespace fourfold::trainer {

namespace {
at::ScalarType exact_type(const at::Tensor& matrix)
{
    return matrix.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

double largest_number(at::ScalarType type)
{
    return largest_number(type == at::kFloat8_e4m3fn ? Narrow::e4m3 : Narrow::e5m2);
}

ScaleBlock of(const at::Tensor& matrix, const ScaleBlock& block)
{
    return {block.rows > 0 ? block.rows : matrix.size(0), block.columns > 0 ? block.columns : matrix.size(1)};
}

// [blocks down, rows of a block, blocks across, columns of a block], with zeros where a last block is smaller.
at::Tensor in_blocks(const at::Tensor& matrix, const ScaleBlock& block)
{
    const auto [down, across] = blocks_of(matrix, block);
    const int64_t more_rows = down * block.rows - matrix.size(0),
                  more_columns = across * block.columns - matrix.size(1);
    const at::Tensor whole
        = more_rows > 0 || more_columns > 0 ? at::constant_pad_nd(matrix, {0, more_columns, 0, more_rows}) : matrix;
    return whole.reshape({down, block.rows, across, block.columns});
}

// One number for each block -> one for each element.
at::Tensor spread(const at::Tensor& of_blocks, const at::Tensor& matrix, const ScaleBlock& block)
{
    return of_blocks.unsqueeze(1)
        .unsqueeze(3)
        .expand({of_blocks.size(0), block.rows, of_blocks.size(1), block.columns})
        .reshape({of_blocks.size(0) * block.rows, of_blocks.size(1) * block.columns})
        .narrow(0, 0, matrix.size(0))
        .narrow(1, 0, matrix.size(1));
}

// 2 to the largest whole number that is not above log2(x): frexp gives x = mantissa * 2^exponent, mantissa in [0.5, 1).
at::Tensor power_below(const at::Tensor& x)
{
    const auto [mantissa, exponent] = at::frexp(x);
    return at::exp2(exponent.sub(1).to(x.scalar_type()));
}
} // namespace

std::array<int64_t, 2> blocks_of(const at::Tensor& matrix, const ScaleBlock& any)
{
    const ScaleBlock block = of(matrix, any);
    return {(matrix.size(0) + block.rows - 1) / block.rows, (matrix.size(1) + block.columns - 1) / block.columns};
}

at::Tensor largest_of_blocks(const at::Tensor& matrix, const ScaleBlock& block, Kernels kernels)
{
    at::Tensor largest = at::zeros(blocks_of(matrix, block), matrix.options().dtype(exact_type(matrix)));
    largest_of_blocks_into(largest, matrix, block, kernels);
    return largest;
}

void largest_of_blocks_into(const at::Tensor& zeros, const at::Tensor& matrix, const ScaleBlock& block, Kernels kernels)
{
    if (kernels == Kernels::fused && has_gpu_kernels(matrix) && matrix.numel() > 0)
        largest_by_kernel(zeros, matrix, of(matrix, block));
    else
        zeros.copy_(in_blocks(matrix, of(matrix, block)).abs().amax({1, 3}));
}

Quantized quantize(const at::Tensor& matrix, at::ScalarType type, const ScaleBlock& block, ScaleKind kind,
    const at::Tensor& largest, Kernels kernels)
{
    if (kernels == Kernels::fused && has_gpu_kernels(matrix) && largest.scalar_type() == at::kFloat)
        return quantized_by_kernel(matrix, type, of(matrix, block), kind, largest);
    const at::Tensor x = matrix.to(exact_type(matrix));
    const ScaleBlock blocks = of(x, block);
    const at::Tensor magnitude = largest.clamp_min(kSmallestMagnitude);
    const double most = largest_number(type);
    at::Tensor scale;
    if (kind == ScaleKind::e8m0) // 448 = 1.75 * 2^8, 57344 = 1.75 * 2^15
        scale = power_below(magnitude).reciprocal().mul(type == at::kFloat8_e4m3fn ? 256 : 32768);
    else
        scale = kind == ScaleKind::power_of_two ? power_below(magnitude.reciprocal().mul(most))
                                                : magnitude.reciprocal().mul(most);
    const at::Tensor values = x.mul(spread(scale, x, blocks)).clamp(-most, most).to(type);
    return {values, scale.reciprocal()};
}

at::Tensor inverse_scale(const at::Tensor& largest, at::ScalarType type)
{
    return largest.clamp_min(kSmallestMagnitude).reciprocal().mul(largest_number(type)).reciprocal();
}

at::Tensor dequantize(const Quantized& quantized, const ScaleBlock& block, at::ScalarType exact)
{
    const ScaleBlock blocks = of(quantized.values, block);
    return quantized.values.to(exact).mul(spread(quantized.inverse_scales.to(exact), quantized.values, blocks));
}

} // namespace fourfold::trainer
