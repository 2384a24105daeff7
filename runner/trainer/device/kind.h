// SPDX-License-Identifier: GPL-3.0-or-later
// The kind of device that a plan runs on, for code that goes one way on a CPU and another on a GPU. A tensor without
// values (device `meta`) stands for one of the device that is rehearsed, and is of its kind.
#pragma once

#include <ATen/core/TensorBody.h>

namespace fourfold::trainer {

bool on_cpu(const at::Device& device); // else on a GPU
inline bool on_cpu(const at::Tensor& x)
{
    return on_cpu(x.device());
}

} // namespace fourfold::trainer
