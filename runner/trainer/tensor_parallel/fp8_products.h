// SPDX-License-Identifier: GPL-3.0-or-later
// Matrix products of numbers of 8 bits: of a linear's output, its input's gradient and its weight's gradient.
//   tensorwise  one scale a tensor; activations and weights in e4m3, gradients in e5m2 (arXiv:2209.05433)
//   rowwise     one a row along what the product sums over, rounded down to powers of two; e4m3 (as torchao)
//   blockwise   128 elements of a row of activations and gradients, 128 x 128 of weights (DeepSeek-V3,
//               arXiv:2412.19437, section 3.3.2); e4m3
//   mxfp8       32 elements of a row, scales in E8M0 (OCP MX v1.0); e4m3
// On GPUs by LibTorch's scaled product; elsewhere by exact emulation: values rounded, products in fp32 (fp64 for fp64).
#pragma once

#include "core/layout/training.h"
#include "runner/trainer/comm/communicator.h"
#include "runner/trainer/kernels/fp8.h"

#include <map>
#include <utility>
#include <vector>

namespace fourfold::trainer {

class Fp8Products {
public:
    enum class Of { activation, weight, gradient };
    // What a product sums over: columns that each rank has as a whole, or in parts; or tokens, of which the replicas
    // (dp x cp) have each their own, and perhaps the ranks of tp too (sequence parallelism, outside of its regions).
    enum class Sums { whole, parts, tokens, rows_of_tp };

    // Of an expert: those that hold slices of it, and those that hold copies of these, one group or two, whose members
    // see other tokens. All must outlive the object and all graphs.
    Fp8Products(const Training& training, const Communicator& tp, const Communicator& replicas);
    Fp8Products(const Training& training, const Communicator& slices, std::vector<const Communicator*> copies);

    // From here on the largest magnitude of this leaf is known; it changes in its place.
    void know(const at::Tensor& leaf, at::Tensor largest) { known_[leaf.unsafeGetTensorImpl()] = std::move(largest); }
    // Largest magnitude of a tensor, over all ranks that share its scale: [1, 1]; undefined where a tensor has no scale
    // of its own. `gathered`: the ranks of tp will put their parts together before the product.
    [[nodiscard]] at::Tensor largest(const at::Tensor& part, Of of, bool gathered = false) const;

    // Largest magnitudes of several matrices with scales of their own, perhaps of no rows, which the ranks tell each
    // other at once: beside them, as factor() takes them for the whole tensor or for each row.
    [[nodiscard]] std::vector<at::Tensor> largest_of(const std::vector<at::Tensor>& matrices, Of of, Sums sums) const;

    // One operand of a product a b^T, rounded.
    struct Factor {
        at::Tensor exact; // its values again, where the product is emulated
        Quantized quantized; // where it is not
    };
    // matrix: [rows, what the product sums over]; `largest`: of its tensor, as largest() gives it, or as largest_of().
    [[nodiscard]] Factor factor(const at::Tensor& matrix, Of of, Sums sums, const at::Tensor& largest) const;
    // [rows of a, rows of b], of `type`.
    [[nodiscard]] at::Tensor product(const Factor& a, const Factor& b, at::ScalarType type) const;
    // The same into `out`, of its type, without gaps.
    void product_into(const at::Tensor& out, const Factor& a, const Factor& b) const;

    // The gradient of a weight, [out, in]. slope: [s, b, out], x: [s, b, in]; blocks run along a sequence. `sums`:
    // tokens or rows_of_tp.
    [[nodiscard]] at::Tensor weight_gradient(const at::Tensor& slope, const at::Tensor& largest_slope,
        const at::Tensor& x, const at::Tensor& largest_x, Sums sums = Sums::tokens) const;

    // Tokens that share a scale where a product sums over them; 0: those of the recipe are not in blocks.
    [[nodiscard]] int64_t tokens_in_block() const;
    // Whether blocks are the same whoever computes them: of positions of a sequence, not of tokens as they come.
    [[nodiscard]] bool blocks_of_positions() const { return positions_ && tokens_in_block() > 0; }

private:
    [[nodiscard]] ScaleBlock block_of(Of of) const;
    // What the scaled product takes: both operands, and their scales as its kernels read them.
    struct Operands {
        at::Tensor rows, columns, row_scales, column_scales;
    };
    [[nodiscard]] Operands operands(const Factor& a, const Factor& b) const;
    void over(const at::Tensor& largest, bool tp, bool replicas) const;

    Fp8Recipe recipe_;
    MxRounding rounding_;
    bool positions_;
    Kernels kernels_; // that find largest magnitudes and round
    const Communicator* tp_; // null: they have scales of their own
    std::vector<const Communicator*> replicas_;
    const Communicator& gathering_;
    std::map<const at::TensorImpl*, at::Tensor> known_;
};

} // namespace fourfold::trainer
