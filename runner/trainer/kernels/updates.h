// SPDX-License-Identifier: GPL-3.0-or-later
// What is done once a step, over flat tensors [n] without gaps: gradient norms and the optimizer's update. Fused: one
// pass, of one kernel or of loops over all threads.
#pragma once

#include "runner/trainer/kernels/elements.h"
#include "runner/trainer/kernels/operations.h"

namespace fourfold::trainer {

// The sum of the squares, an fp64 scalar on the device of `values`.
at::Tensor squared_norm(Kernels kernels, const at::Tensor& values);

// One update of Adam in the master's type, fp32 or fp64; gradient and moments may have fewer bits, and moments are
// rounded when it is done.
void adam_update(Kernels kernels, const AdamFactors<double>& factors, const at::Tensor& gradient,
    const at::Tensor& master, const at::Tensor& first, const at::Tensor& second);

} // namespace fourfold::trainer
