// SPDX-License-Identifier: GPL-3.0-or-later
// The matrix products at the borders of a tensor-parallel region (regions.h): column-parallel linears where it begins,
// a row-parallel one where it ends.
#pragma once

#include "runner/trainer/comm/communicator.h"
#include "runner/trainer/model/linear.h"
#include "runner/trainer/tensor_parallel/overlapped_products.h"

namespace fourfold::trainer {

class RegionProducts {
public:
    // `rows`: of what sequence parallelism gathers; in pieces that travel beside the products (plan: async_tp), also
    // what it scatters. `fp8`: null, or the products are in it. `tp`, `later`, for weight gradients, and `fp8` must
    // outlive the object and the graphs.
    RegionProducts(const Communicator& tp, bool sequence_parallel, GatheredRows rows, WeightGradients& later,
        const Fp8Products* fp8);

    // Into the region and through `layers`, all of the same input: outputs beside them. x: [s, b, h], of which with
    // sequence parallelism each rank has its rows.
    [[nodiscard]] std::vector<at::Tensor> enter(const at::Tensor& x, const std::vector<Affine>& layers) const;
    // Through a linear and out of the region. x: [s, b, features / tp]; the sum over the ranks, of which with sequence
    // parallelism each rank has its rows. The caller adds the bias, once.
    [[nodiscard]] at::Tensor leave(const at::Tensor& x, const at::Tensor& weight) const;
    // Out of the region alone.
    [[nodiscard]] at::Tensor summed(const at::Tensor& x) const;
    // Into the region alone, and through a column-parallel linear in it.
    [[nodiscard]] at::Tensor border(const at::Tensor& x) const;
    [[nodiscard]] at::Tensor within(const at::Tensor& x, const at::Tensor& weight) const;
    // Through a linear outside of regions, whose weight every rank has whole: of the rows that this rank has of x.
    [[nodiscard]] at::Tensor outside(const at::Tensor& x, const at::Tensor& weight) const;

    // Of one rank, in the numbers of their operands: nothing lies between a region's border and its products.
    [[nodiscard]] bool alone() const { return tp_.size() == 1 && fp8_ == nullptr; }
    [[nodiscard]] WeightGradients& later() const { return later_; }

private:
    const Communicator& tp_;
    bool sequence_parallel_, gathers_; // gathers: there are other ranks' rows
    GatheredRows rows_;
    WeightGradients& later_;
    const Fp8Products* fp8_;
};

} // namespace fourfold::trainer
