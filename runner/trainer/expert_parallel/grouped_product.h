// SPDX-License-Identifier: GPL-3.0-or-later
// The matrix products of several experts over rows that are sorted by expert.
#pragma once

#include "runner/trainer/model/linear.h"

#include <ATen/core/Tensor.h>

#include <vector>

namespace fourfold::trainer {

// y = x W^T with the weight of each row's expert. x: [sum of rows, in], `rows[e]` of them for expert e, in order;
// weights: [out, in] each; biases: [out] each, or none. With `adds_biases` off y is without them, and they get their
// gradients all the same: another rank of those that hold slices of the experts adds them. Experts without rows get
// gradients of zero. On a GPU in bf16 one kernel for all of them (at::_grouped_mm); elsewhere, and in fp8, one product
// for each, whose tensors and rows have scales of their own. `fp8`: null, or the products are in it; what of an expert
// the etp ranks hold is `cut`. It must outlive the graph. `runs`: rows that lie beside each other, as many for each
// expert, of which none shares the scale of a block of tokens with another run's; empty: each expert's rows are one.
at::Tensor grouped_linear(const at::Tensor& x, const std::vector<at::Tensor>& weights,
    const std::vector<at::Tensor>& biases, bool adds_biases, const std::vector<int64_t>& rows,
    const Fp8Products* fp8 = nullptr, CutOver cut = CutOver::columns, const std::vector<int64_t>& runs = {});

} // namespace fourfold::trainer
