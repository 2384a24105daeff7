// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/tensor_parallel/fp8_products.h"

#include "runner/trainer/device/kind.h"

#include <ATen/ops/_scaled_mm.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

namespace fourfold::trainer {

namespace {
constexpr int64_t kBlock = 128, kSmallBlock = 32;

// The order in which cuBLAS reads the scales of mxfp8: tiles of 128 rows by 4 scales, rows r, r + 32, r + 64, r + 96
// beside each other (cuBLAS, "1D block scaling factors layout").
at::Tensor in_tiles(const at::Tensor& scales)
{
    constexpr int64_t kRows = 128, kColumns = 4, kApart = 32;
    const int64_t rows = (scales.size(0) + kRows - 1) / kRows, columns = (scales.size(1) + kColumns - 1) / kColumns;
    return at::constant_pad_nd(scales, {0, columns * kColumns - scales.size(1), 0, rows * kRows - scales.size(0)})
        .view({rows, kRows / kApart, kApart, columns, kColumns})
        .permute({0, 3, 2, 1, 4})
        .reshape(-1);
}

// Whether products are of numbers that were rounded to 8 bits and are kept in a wider type: where no matrix unit takes
// 8 bits, and in the fp64 of tests, whose scales none takes either.
bool is_emulated(const at::Tensor& x)
{
    return on_cpu(x) || x.scalar_type() == at::kDouble;
}

at::Tensor along_sequences(const at::Tensor& x)
{
    return x.dim() == 3 ? x.permute({2, 1, 0}).reshape({x.size(2), -1}) : x.t();
}

// The same as it lies in memory, tokens of all sequences beside each other: no copy.
at::Tensor along_tokens(const at::Tensor& x)
{
    return x.reshape({-1, x.size(-1)}).t();
}

// Whether a row that a product sums over goes on on other ranks: of tp, and of its replicas.
bool of_tp(Fp8Products::Sums sums)
{
    return sums == Fp8Products::Sums::parts || sums == Fp8Products::Sums::rows_of_tp;
}
bool of_replicas(Fp8Products::Sums sums)
{
    return sums == Fp8Products::Sums::tokens || sums == Fp8Products::Sums::rows_of_tp;
}

// cuBLAS reads the scales of 128 x 128 in rows of a whole number of 4, which LibTorch does not let lie there: with a
// number of blocks that is none, the product was silently wrong (an H200, LibTorch 2.11).
constexpr int64_t kBlocksAtOnce = 4;

// With zeros beside its columns up to such a number; the scales of zeros may be any.
Quantized widened(const Quantized& factor)
{
    const int64_t blocks = factor.inverse_scales.size(1),
                  all = (blocks + kBlocksAtOnce - 1) / kBlocksAtOnce * kBlocksAtOnce;
    const at::Tensor& values = factor.values;
    return {at::constant_pad_nd(values.view(at::kByte), {0, all * kBlock - values.size(1)}).view(values.scalar_type()),
        at::constant_pad_nd(factor.inverse_scales, {0, all - blocks}, 1)};
}
} // namespace

Fp8Products::Fp8Products(const Training& training, const Communicator& tp, const Communicator& replicas)
    : Fp8Products(training, tp, std::vector{&replicas})
{
}

Fp8Products::Fp8Products(const Training& training, const Communicator& slices, std::vector<const Communicator*> copies)
    : recipe_(training.fp8_recipe)
    , rounding_(training.mx_rounding)
    , positions_(training.fp8_scale_group == Fp8ScaleGroup::micro_batch)
    , kernels_(kernels_of(training))
    , tp_(training.fp8_scale_group == Fp8ScaleGroup::rank ? nullptr : &slices)
    , replicas_(std::move(copies))
    , gathering_(slices)
{
    if (training.fp8_scale_group != Fp8ScaleGroup::micro_batch)
        replicas_.clear();
}

ScaleBlock Fp8Products::block_of(Of of) const
{
    switch (recipe_) {
    case Fp8Recipe::tensorwise:
        break;
    case Fp8Recipe::rowwise:
        return {1, 0};
    case Fp8Recipe::blockwise:
        return {of == Of::weight ? kBlock : 1, kBlock};
    case Fp8Recipe::mxfp8:
        return {1, kSmallBlock};
    }
    return {};
}

void Fp8Products::over(const at::Tensor& largest, bool tp, bool replicas) const
{
    if (tp && tp_ != nullptr && tp_->size() > 1)
        tp_->all_reduce(largest, Reduce::max);
    for (const Communicator* group : replicas_)
        if (replicas && group->size() > 1)
            group->all_reduce(largest, Reduce::max);
}

at::Tensor Fp8Products::largest(const at::Tensor& part, Of of, bool gathered) const
{
    if (recipe_ != Fp8Recipe::tensorwise)
        return {};
    if (const auto known = known_.find(part.unsafeGetTensorImpl()); of == Of::weight && known != known_.end())
        return known->second;
    at::Tensor out = largest_of_blocks(part.reshape({1, -1}), {}, kernels_);
    if (gathered && tp_ == nullptr && gathering_.size() > 1)
        gathering_.all_reduce(out, Reduce::max);
    over(out, true, of != Of::weight);
    return out;
}

std::vector<at::Tensor> Fp8Products::largest_of(const std::vector<at::Tensor>& matrices, Of of, Sums sums) const
{
    const bool whole = recipe_ == Fp8Recipe::tensorwise;
    std::vector<std::array<int64_t, 2>> blocks;
    int64_t count = 0;
    for (const at::Tensor& matrix : matrices) { // one without elements has zeros for what other ranks have of it
        const auto [down, across] = matrix.numel() > 0 ? blocks_of(matrix, block_of(of))
                                                       : std::array<int64_t, 2>{whole ? 1 : matrix.size(0), 1};
        blocks.push_back({down, across});
        count += down * across;
    }
    const bool is_double = matrices.at(0).scalar_type() == at::kDouble;
    const at::Tensor all = at::zeros({count}, matrices.at(0).options().dtype(is_double ? at::kDouble : at::kFloat));
    std::vector<at::Tensor> out;
    count = 0;
    for (std::size_t i = 0; i < matrices.size(); ++i) {
        const auto [down, across] = blocks[i];
        out.push_back(all.narrow(0, count, down * across).view({down, across}));
        count += down * across;
        if (matrices[i].numel() > 0)
            largest_of_blocks_into(out.back(), matrices[i], block_of(of), kernels_);
    }
    if (whole || recipe_ == Fp8Recipe::rowwise)
        over(all, whole || of_tp(sums), whole ? of != Of::weight : of_replicas(sums));
    return out;
}

Fp8Products::Factor Fp8Products::factor(const at::Tensor& matrix, Of of, Sums sums, const at::Tensor& largest) const
{
    const ScaleBlock block = block_of(of);
    at::Tensor magnitudes = largest;
    if (!magnitudes.defined()) {
        magnitudes = largest_of_blocks(matrix, block, kernels_);
        if (recipe_ == Fp8Recipe::rowwise)
            over(magnitudes, of_tp(sums), of_replicas(sums));
    }
    const bool powers = recipe_ == Fp8Recipe::rowwise || recipe_ == Fp8Recipe::mxfp8;
    const ScaleKind kind = recipe_ == Fp8Recipe::mxfp8 && rounding_ == MxRounding::floor ? ScaleKind::e8m0
        : powers                                                                         ? ScaleKind::power_of_two
                                                                                         : ScaleKind::exact;
    const bool wide_range = recipe_ == Fp8Recipe::tensorwise && of == Of::gradient;
    Quantized quantized
        = quantize(matrix, wide_range ? at::kFloat8_e5m2 : at::kFloat8_e4m3fn, block, kind, magnitudes, kernels_);
    if (!is_emulated(matrix))
        return {{}, std::move(quantized)};
    return {dequantize(quantized, block, matrix.scalar_type() == at::kDouble ? at::kDouble : at::kFloat), {}};
}

Fp8Products::Operands Fp8Products::operands(const Factor& a, const Factor& b) const
{
    Quantized rows = a.quantized, columns = b.quantized;
    const bool squares = recipe_ == Fp8Recipe::blockwise && columns.inverse_scales.size(0) < columns.values.size(0);
    if (squares && columns.inverse_scales.size(1) % kBlocksAtOnce != 0) {
        rows = widened(rows);
        columns = widened(columns);
    }
    // Scales as the kernels take them: one number; one for each row and column; blocks of 128, those of one row or
    // column far from each other, those of 128 x 128 beside each other; blocks of 32, in tiles.
    at::Tensor left = rows.inverse_scales, right = columns.inverse_scales;
    if (recipe_ == Fp8Recipe::rowwise)
        right = right.t();
    if (recipe_ == Fp8Recipe::blockwise) {
        left = left.t().contiguous().t();
        right = squares ? right.t() : right.t().contiguous();
    }
    if (recipe_ == Fp8Recipe::mxfp8) {
        left = in_tiles(left.to(at::kFloat8_e8m0fnu));
        right = in_tiles(right.to(at::kFloat8_e8m0fnu));
    }
    return {rows.values.contiguous(), columns.values.contiguous().t(), left, right};
}

at::Tensor Fp8Products::product(const Factor& a, const Factor& b, at::ScalarType type) const
{
    if (a.exact.defined())
        return at::mm(a.exact, b.exact.t()).to(type);
    const Operands own = operands(a, b);
    return at::_scaled_mm(own.rows, own.columns, own.row_scales, own.column_scales, std::nullopt, std::nullopt, type);
}

void Fp8Products::product_into(const at::Tensor& out, const Factor& a, const Factor& b) const
{
    if (a.exact.defined()) {
        out.copy_(at::mm(a.exact, b.exact.t()));
        return;
    }
    const Operands own = operands(a, b);
    at::Tensor target = out;
    at::_scaled_mm_out(target, own.rows, own.columns, own.row_scales, own.column_scales, std::nullopt, std::nullopt,
        out.scalar_type());
}

at::Tensor Fp8Products::weight_gradient(const at::Tensor& slope, const at::Tensor& largest_slope, const at::Tensor& x,
    const at::Tensor& largest_x, Sums sums) const
{
    // Where no blocks run along a sequence, the sum over tokens may go as they lie; emulated it keeps its order.
    const auto columns = tokens_in_block() > 0 || is_emulated(x) ? along_sequences : along_tokens;
    return product(factor(columns(slope), Of::gradient, sums, largest_slope),
        factor(columns(x), Of::activation, sums, largest_x), x.scalar_type());
}

int64_t Fp8Products::tokens_in_block() const
{
    return recipe_ == Fp8Recipe::blockwise ? kBlock : recipe_ == Fp8Recipe::mxfp8 ? kSmallBlock : 0;
}

} // namespace fourfold::trainer
