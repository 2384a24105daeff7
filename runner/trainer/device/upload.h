// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers that the host made, on the device that computes with them.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cstring>
#include <vector>

namespace fourfold::trainer {

// [number of them]. A GPU's host does not wait, as it does for memory that is not pinned, until the GPU has done all
// before it: pinned memory goes back to LibTorch's allocator, which does not give it away before the copy is through.
template <typename Number>
at::Tensor on_device(const std::vector<Number>& numbers, const at::Device& device)
{
    const at::Tensor here = at::empty({int64_t(numbers.size())},
        at::TensorOptions(c10::CppTypeToScalarType<Number>::value).pinned_memory(device.is_cuda()));
    if (!numbers.empty())
        std::memcpy(here.mutable_data_ptr(), numbers.data(), numbers.size() * sizeof(Number));
    return here.to(device, /*non_blocking=*/device.is_cuda());
}

} // namespace fourfold::trainer
