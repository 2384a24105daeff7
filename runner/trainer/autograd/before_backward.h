// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace fourfold::trainer {

// y; `action` runs in the backward pass, before that of everything that y was computed with.
at::Tensor before_backward(const at::Tensor& y, std::function<void()> action);

} // namespace fourfold::trainer
